// Reads what FAB_TRACE has written: a merged trace for viewers, an archive of OTF2, a picture, or a report.
#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bindings/tools/command_line.h"
#include "bindings/tools/output.h"
#include "bindings/tools/trace/chrome_trace.h"
#include "bindings/tools/trace/clocks.h"
#include "bindings/tools/trace/otf2_trace.h"
#include "bindings/tools/trace/timeline.h"
#include "bindings/tools/trace/timeline_picture.h"
#include "bindings/tools/trace/trace_report.h"
#include "core/base/quoted.h"
#include "fab/error.h"

namespace {

using namespace fab::tools;

struct Request {
  std::vector<std::string> files;
  std::string out;
  std::string folder;
  std::size_t waits = 20;
  bool json = false;
  double from_ns = -1;  ///< -1: not given
  double to_ns = -1;
  std::string steps;
  std::string operation;
  std::string ranks;
  std::string title;
  int width = 1200;
};

/// "3" or "3:7", both included.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

Range parse_range(const char* option, const std::string& text) {
  Range range;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, range.first);
  range.last = range.first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == ':')
    read = std::from_chars(read.ptr + 1, end, range.last);
  if (read.ec != std::errc() || read.ptr != end || range.last < range.first)
    throw fab::Error(fab::Errc::invalid_argument,
                     fmt::format("{} {}: a number, or two in order with a colon between them, is valid: 3 or 3:7",
                                 option, fab::in_quotes(text)));
  return range;
}

Timeline read_timeline(const Request& request) {
  Timeline timeline = make_timeline(read_traces(request.files));
  align_clocks(timeline);
  return timeline;
}

/// To the file of -o, or to standard output.
void write_out(const Request& request, const std::function<void(const std::function<void(std::string_view)>&)>& make) {
  if (request.out.empty()) return make([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  std::ofstream file(request.out);
  make([&](std::string_view text) { file << text; });
  file.close();
  if (!file)
    throw fab::Error(fab::Errc::invalid_argument,
                     fmt::format("--out {}: {}", fab::in_quotes(request.out), std::strerror(errno)));
}

void add_files(CLI::App* command, Request& request) {
  command->add_option("files", request.files, "Files of ranks, or the name in FAB_TRACE, which stands for all of them")
      ->required();
}

CLI::App* add_command(CLI::App& app, Request& request, const char* name, const char* what) {
  CLI::App* command = app.add_subcommand(name, what);
  add_files(command, request);
  command->add_option("-o,--out", request.out, "Write to this file instead of standard output");
  return command;
}

void tell_notes(const Timeline& timeline) {
  for (const std::string& note : timeline.notes) std::fprintf(stderr, "fab_trace: %s\n", note.c_str());
}

void write_archive(const Request& request) {
  const Timeline timeline = read_timeline(request);
  tell_notes(timeline);
  write_otf2(timeline, request.folder);
}

void merge(const Request& request) {
  const Timeline timeline = read_timeline(request);
  tell_notes(timeline);
  write_out(request, [&](const auto& write) { write_chrome_trace(timeline, write); });
}

void report(const Request& request) {
  const Timeline timeline = read_timeline(request);
  const TraceReport its = make_report(timeline);
  write_out(request, [&](const auto& write) {
    write(request.json ? to_json(its, timeline, request.waits) : to_text(its, timeline, request.waits));
  });
}

/// With some room at both sides.
Interval time_of_picture(const Request& request, const Timeline& timeline) {
  Interval time = whole_time(timeline);
  if (!request.steps.empty()) {
    if (request.operation.empty())
      throw fab::Error(fab::Errc::invalid_argument, "--steps needs --operation: steps are counted for each operation");
    const Range steps = parse_range("--steps", request.steps);
    time = time_of_steps(timeline, request.operation, steps.first, steps.last);
    const Time room = (time.end - time.begin) / 40 + 1;
    time = {time.begin - room, time.end + room};
  }
  if (request.from_ns >= 0) time.begin = static_cast<Time>(request.from_ns);
  if (request.to_ns >= 0) time.end = static_cast<Time>(request.to_ns);
  if (time.end <= time.begin)
    throw fab::Error(fab::Errc::invalid_argument, fmt::format("the picture would begin at {} ns and end at {} ns: the "
                                                              "end must be later",
                                                              time.begin, time.end));
  return time;
}

void draw(const Request& request) {
  const Timeline timeline = read_timeline(request);
  PictureRequest picture{.time = time_of_picture(request, timeline),
                         .last_rank = timeline.ranks - 1,
                         .width = request.width,
                         .title = request.title};
  if (!request.ranks.empty()) {
    const Range ranks = parse_range("--ranks", request.ranks);
    if (ranks.last >= static_cast<std::uint64_t>(timeline.ranks))
      throw fab::Error(fab::Errc::invalid_argument,
                       fmt::format("--ranks {}: the job has the ranks 0 to {}", request.ranks, timeline.ranks - 1));
    picture.first_rank = static_cast<fab::Rank>(ranks.first);
    picture.last_rank = static_cast<fab::Rank>(ranks.last);
  }
  if (picture.title.empty() && !request.steps.empty())
    picture.title = fmt::format("{}, steps {}", request.operation, request.steps);
  write_out(request, [&](const auto& write) { write(to_svg(timeline, picture)); });
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  CLI::App app("Shows what the ranks of a job did and when, out of the files that FAB_TRACE has written.", "fab_trace");
  app.set_version_flag("--version", "fab_trace " FAB_VERSION, "Print the version, and nothing else");
  app.require_subcommand(1);
  Request request;
  const CLI::App* merging =
      add_command(app, request, "merge", "Write one trace of all ranks, for ui.perfetto.dev or chrome://tracing");
  CLI::App* archiving = app.add_subcommand(
      "otf2", "Write an archive of OTF2, for Vampir, otf2-print and others, where fab was built with OTF2");
  archiving->add_option("folder", request.folder, "A new or empty folder for it")->required();
  add_files(archiving, request);
  CLI::App* reporting =
      add_command(app, request, "report", "Print overlap, waits, and the ranks that others waited for");
  reporting->add_option("--waits", request.waits, "How many of the longest waits are listed [20]");
  reporting->add_flag("--json", request.json, "Print JSON");
  CLI::App* drawing = add_command(app, request, "svg", "Draw an interval as one SVG file");
  const auto with_unit = CLI::AsNumberWithUnit(
      std::map<std::string, double>{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}},
      CLI::AsNumberWithUnit::Options(CLI::AsNumberWithUnit::CASE_SENSITIVE | CLI::AsNumberWithUnit::UNIT_REQUIRED));
  drawing->add_option("--from", request.from_ns, "Time since the first rank has opened fab, e.g. 1.5ms (ns, us, ms, s)")
      ->transform(with_unit);
  drawing->add_option("--to", request.to_ns, "The same of the end")->transform(with_unit);
  drawing->add_option("--steps", request.steps, "Starts of --operation instead, from 1 on: 12 or 10:12");
  drawing->add_option("--operation", request.operation, "An operation, as the report names it, e.g. neighbor_xchg");
  drawing->add_option("--ranks", request.ranks, "Only these ranks, e.g. 0:7");
  drawing->add_option("--title", request.title, "A line of text above the picture");
  drawing->add_option("--width", request.width, "Pixels [1200]")->check(CLI::Range(300, 20000));
  return fab::tools::run_tool(app, argc, argv, [&] {
    if (merging->parsed())
      merge(request);
    else if (archiving->parsed())
      write_archive(request);
    else if (drawing->parsed())
      draw(request);
    else
      report(request);
    return EXIT_SUCCESS;
  });
}
