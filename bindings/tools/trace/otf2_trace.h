// A timeline as an archive of OTF2, the Open Trace Format that Vampir, Score-P's tools and otf2-print read.
#pragma once

#include <string>

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

/// Makes the archive FOLDER/traces.otf2; `folder` does not exist yet, or is empty. A rank is a process. Its first
/// location, whose number is the rank's, has its waits as regions, and its messages as MpiIsend, MpiIsendComplete and
/// MpiRecv. Further locations have its exchanges, with their rounds, which may overlap, and its progress thread. Tags
/// number the messages from one rank to another, so readers find the two ends of each. Precondition: align_clocks().
/// Throws Error(invalid_argument) for a folder that cannot be made or is in use, and where fab was built without OTF2;
/// Error(no_resources) for an archive that cannot be written.
void write_otf2(const Timeline& timeline, const std::string& folder);

}  // namespace fab::tools
