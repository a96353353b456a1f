// Parses the command line of a tool.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
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

}  // namespace fab::tools
