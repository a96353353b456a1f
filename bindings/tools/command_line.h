// Parses the command line of a tool, and does what it is for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>

#include "core/base/quoted.h"

namespace fab::tools {

/// Prints help, or what is wrong, which may hold anything that was typed. Returns the exit status.
inline int end_parsing(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream wrong;
  const int status = app.exit(error, out, wrong);
  std::fputs(out.str().c_str(), stdout);
  constexpr std::size_t kMostOfALine = 400;
  std::istringstream lines(wrong.str());
  for (std::string line; std::getline(lines, line);) {
    const std::string shown = line.size() <= kMostOfALine ? escaped(line) : in_quotes(line, kMostOfALine);
    std::fprintf(stderr, "%s\n", shown.c_str());
  }
  return status;
}

/// The rest of main(), once the options are added: parses, and calls `run`, which returns the exit status. Its failure
/// is one line that begins with the tool's name.
template <class Run>
int run_tool(CLI::App& app, int argc, char** argv, Run&& run) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_parsing(app, error);
  }
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace fab::tools
