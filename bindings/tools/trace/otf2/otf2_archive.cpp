#include "bindings/tools/trace/otf2/otf2_archive.h"

#include <fmt/core.h>

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

constexpr std::uint64_t kChunkOfEvents = 1 << 20;
constexpr std::uint64_t kChunkOfDefinitions = 4 << 20;

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  bool empty = false;
  if (!error) empty = std::filesystem::is_empty(folder, error);
  if (error)
    throw Error(Errc::invalid_argument, fmt::format("otf2: the folder {}: {}", in_quotes(folder), error.message()));
  if (!empty)
    throw Error(
        Errc::invalid_argument,
        fmt::format("otf2: the folder {} is not empty: an archive needs a new or an empty one", in_quotes(folder)));
}

OTF2_ErrorCode keep_message(void* message, const char* /*file*/, std::uint64_t /*line*/, const char* function,
                            OTF2_ErrorCode code, const char* format, va_list arguments) {
  char text[512] = "";
  if (format != nullptr && std::vsnprintf(text, sizeof(text), format, arguments) < 0) text[0] = '\0';
  *static_cast<std::string*>(message) = fmt::format("{} ({}): {}", OTF2_Error_GetDescription(code), function, text);
  return code;
}

OTF2_FlushType flush_when_full(void* /*data*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void* /*caller*/,
                               bool /*last*/) {
  return OTF2_FLUSH;
}

}  // namespace

Otf2Archive::Otf2Archive(const std::string& folder)
    : folder_(folder), callback_before_(OTF2_Error_RegisterCallback(keep_message, &message_)) {
  try {
    make_folder(folder);
    archive_ = must_give(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, kChunkOfEvents,
                                           kChunkOfDefinitions, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
                         "OTF2_Archive_Open");
    static constexpr OTF2_FlushCallbacks kFlush{.otf2_pre_flush = flush_when_full, .otf2_post_flush = nullptr};
    must(OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr), "OTF2_Archive_SetFlushCallbacks");
    must(OTF2_Archive_SetSerialCollectiveCallbacks(archive_), "OTF2_Archive_SetSerialCollectiveCallbacks");
    must(OTF2_Archive_OpenEvtFiles(archive_), "OTF2_Archive_OpenEvtFiles");
    must(OTF2_Archive_OpenDefFiles(archive_), "OTF2_Archive_OpenDefFiles");
  } catch (...) {
    if (archive_ != nullptr) OTF2_Archive_Close(archive_);
    OTF2_Error_RegisterCallback(callback_before_, nullptr);
    throw;
  }
}

Otf2Archive::~Otf2Archive() {
  if (archive_ != nullptr) OTF2_Archive_Close(archive_);  // after a failure, which is told
  OTF2_Error_RegisterCallback(callback_before_, nullptr);
}

void Otf2Archive::must(OTF2_ErrorCode code, const char* call) const {
  if (code == OTF2_SUCCESS) return;
  throw Error(Errc::no_resources,
              fmt::format("otf2: the archive in {} cannot be written: {}: {}", in_quotes(folder_), call,
                          message_.empty() ? OTF2_Error_GetDescription(code) : escaped(message_)));
}

OTF2_GlobalDefWriter* Otf2Archive::definitions() {
  must(OTF2_Archive_CloseDefFiles(archive_), "OTF2_Archive_CloseDefFiles");
  must(OTF2_Archive_CloseEvtFiles(archive_), "OTF2_Archive_CloseEvtFiles");
  return must_give(OTF2_Archive_GetGlobalDefWriter(archive_), "OTF2_Archive_GetGlobalDefWriter");
}

void Otf2Archive::close() { must(OTF2_Archive_Close(std::exchange(archive_, nullptr)), "OTF2_Archive_Close"); }

Otf2Events::Otf2Events(Otf2Archive& archive, OTF2_LocationRef location)
    : archive_(archive),
      writer_(archive.must_give(OTF2_Archive_GetEvtWriter(archive.get(), location), "OTF2_Archive_GetEvtWriter")),
      attributes_(archive.must_give(OTF2_AttributeList_New(), "OTF2_AttributeList_New")) {
  // Readers want a file of definitions for each location, though all of them are global here.
  OTF2_DefWriter* const own =
      archive.must_give(OTF2_Archive_GetDefWriter(archive.get(), location), "OTF2_Archive_GetDefWriter");
  archive.must(OTF2_Archive_CloseDefWriter(archive.get(), own), "OTF2_Archive_CloseDefWriter");
}

void Otf2Events::attribute(OTF2_AttributeRef attribute, std::uint64_t value) {
  archive_.must(OTF2_AttributeList_AddUint64(attributes_.get(), attribute, value), "OTF2_AttributeList_AddUint64");
}

void Otf2Events::string_attribute(OTF2_AttributeRef attribute, OTF2_StringRef value) {
  archive_.must(OTF2_AttributeList_AddStringRef(attributes_.get(), attribute, value),
                "OTF2_AttributeList_AddStringRef");
}

void Otf2Events::enter(Time time, OTF2_RegionRef region) {
  archive_.must(OTF2_EvtWriter_Enter(writer_, attributes_.get(), static_cast<OTF2_TimeStamp>(time), region),
                "OTF2_EvtWriter_Enter");
}

void Otf2Events::leave(Time time, OTF2_RegionRef region) {
  archive_.must(OTF2_EvtWriter_Leave(writer_, attributes_.get(), static_cast<OTF2_TimeStamp>(time), region),
                "OTF2_EvtWriter_Leave");
}

void Otf2Events::send(Time time, Rank to, std::uint32_t tag, std::uint64_t bytes, std::uint64_t request) {
  archive_.must(OTF2_EvtWriter_MpiIsend(writer_, attributes_.get(), static_cast<OTF2_TimeStamp>(time),
                                        static_cast<std::uint32_t>(to), kOtf2World, tag, bytes, request),
                "OTF2_EvtWriter_MpiIsend");
}

void Otf2Events::sent(Time time, std::uint64_t request) {
  archive_.must(OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, static_cast<OTF2_TimeStamp>(time), request),
                "OTF2_EvtWriter_MpiIsendComplete");
}

void Otf2Events::receive(Time time, Rank from, std::uint32_t tag, std::uint64_t bytes) {
  archive_.must(OTF2_EvtWriter_MpiRecv(writer_, attributes_.get(), static_cast<OTF2_TimeStamp>(time),
                                       static_cast<std::uint32_t>(from), kOtf2World, tag, bytes),
                "OTF2_EvtWriter_MpiRecv");
}

std::uint64_t Otf2Events::close() {
  std::uint64_t events = 0;
  archive_.must(OTF2_EvtWriter_GetNumberOfEvents(writer_, &events), "OTF2_EvtWriter_GetNumberOfEvents");
  archive_.must(OTF2_Archive_CloseEvtWriter(archive_.get(), writer_), "OTF2_Archive_CloseEvtWriter");
  return events;
}

}  // namespace fab::tools
