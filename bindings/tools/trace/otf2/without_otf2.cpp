// In place of the other sources of this folder where OTF2 is not installed.
#include "bindings/tools/trace/otf2_trace.h"
#include "fab/error.h"

namespace fab::tools {

void write_otf2(const Timeline& /*timeline*/, const std::string& /*folder*/) {
  throw Error(Errc::invalid_argument,
              "otf2: this fab was built without OTF2. Install its library (Debian: libopen-trace-format2-dev) and "
              "build fab with "
              "FAB_OTF2=ON, or use fab_trace merge");
}

}  // namespace fab::tools
