// An OTF2 archive that is written, and the events of one of its locations. Every failure throws Error(no_resources)
// with OTF2's own message.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

class Otf2Archive {
 public:
  /// Throws Error(invalid_argument) if `folder` cannot be made, or is in use.
  explicit Otf2Archive(const std::string& folder);
  ~Otf2Archive();
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;

  void must(OTF2_ErrorCode code, const char* call) const;
  template <class Handle>
  [[nodiscard]] Handle* must_give(Handle* handle, const char* call) const {
    if (handle == nullptr) must(OTF2_ERROR_INVALID, call);
    return handle;
  }

  [[nodiscard]] OTF2_Archive* get() const noexcept { return archive_; }
  /// Behind all events.
  [[nodiscard]] OTF2_GlobalDefWriter* definitions();
  /// Once all is written.
  void close();

 private:
  std::string folder_;
  std::string message_;  ///< OTF2's latest
  OTF2_ErrorCallback callback_before_;
  OTF2_Archive* archive_ = nullptr;
};

/// Events come by time.
class Otf2Events {
 public:
  Otf2Events(Otf2Archive& archive, OTF2_LocationRef location);

  /// Attributes belong to the next event.
  void attribute(OTF2_AttributeRef attribute, std::uint64_t value);
  void string_attribute(OTF2_AttributeRef attribute, OTF2_StringRef value);

  void enter(Time time, OTF2_RegionRef region);
  void leave(Time time, OTF2_RegionRef region);
  void send(Time time, Rank to, std::uint32_t tag, std::uint64_t bytes, std::uint64_t request);
  void sent(Time time, std::uint64_t request);
  void receive(Time time, Rank from, std::uint32_t tag, std::uint64_t bytes);

  /// Returns how many there are.
  std::uint64_t close();

 private:
  struct DeleteAttributes {
    void operator()(OTF2_AttributeList* list) const noexcept { OTF2_AttributeList_Delete(list); }
  };

  Otf2Archive& archive_;
  OTF2_EvtWriter* writer_;
  std::unique_ptr<OTF2_AttributeList, DeleteAttributes> attributes_;
};

/// The only communicator: all ranks of the job.
inline constexpr OTF2_CommRef kOtf2World = 0;

}  // namespace fab::tools
