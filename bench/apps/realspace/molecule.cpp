#include "realspace/molecule.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>

#include "core/base/quoted.h"
#include "realspace/input_error.h"

namespace realspace {
namespace {

struct Element {
  std::string_view symbol;
  int charge;
  double covalent_radius_angstrom;
};

// Covalent radii: Cordero et al., Dalton Transactions (2008) 2832, table 2.
constexpr std::array kElements = {
    Element{"H", 1, 0.31},   Element{"He", 2, 0.28},  Element{"Li", 3, 1.28},  Element{"Be", 4, 0.96},
    Element{"B", 5, 0.84},   Element{"C", 6, 0.76},   Element{"N", 7, 0.71},   Element{"O", 8, 0.66},
    Element{"F", 9, 0.57},   Element{"Ne", 10, 0.58}, Element{"Na", 11, 1.66}, Element{"Mg", 12, 1.41},
    Element{"Al", 13, 1.21}, Element{"Si", 14, 1.11}, Element{"P", 15, 1.07},  Element{"S", 16, 1.05},
    Element{"Cl", 17, 1.02}, Element{"Ar", 18, 1.06}, Element{"Br", 35, 1.20}, Element{"I", 53, 1.39},
};

class XyzReader {
 public:
  XyzReader(std::string_view text, const std::string& name) : lines_(std::string(text)), name_(name) {}

  Molecule read() {
    const long long count = read_count();
    next_line("a comment line");
    Molecule molecule{name_, {}};
    for (long long i = 0; i < count; ++i) molecule.atoms.push_back(read_atom(i, count));
    return molecule;
  }

 private:
  long long read_count() {
    std::istringstream line = next_line("the number of atoms");
    long long count = 0;
    std::string rest;
    if (!(line >> count) || count < 1 || line >> rest) fail("the number of atoms, alone and at least 1");
    return count;
  }

  Atom read_atom(long long index, long long count) {
    std::istringstream line = next_line(fmt::format("atom {} of {}", index + 1, count));
    std::string symbol;
    Vector3 angstrom{};
    if (!(line >> symbol >> angstrom[0] >> angstrom[1] >> angstrom[2])) fail("an element and x, y, z in Angstrom");
    if (!std::all_of(angstrom.begin(), angstrom.end(), [](double c) { return std::isfinite(c); })) {
      fail("finite coordinates");
    }
    const Element& element = find_element(symbol);
    return {element.charge, element.covalent_radius_angstrom * kBohrPerAngstrom, kBohrPerAngstrom * angstrom};
  }

  const Element& find_element(const std::string& symbol) const {
    const auto found = std::find_if(kElements.begin(), kElements.end(), [&](auto& e) { return e.symbol == symbol; });
    if (found == kElements.end()) fail("an element's symbol (H to Ar, Br, I) at the start of the line");
    return *found;
  }

  std::istringstream next_line(const std::string& what) {
    ++line_number_;
    if (!std::getline(lines_, line_)) {
      throw InputError(
          fmt::format("{}:{}: the file ends where {} should stand", fab::escaped(name_), line_number_, what));
    }
    return std::istringstream(line_);
  }

  [[noreturn]] void fail(std::string_view expected) const {
    throw InputError(
        fmt::format("{}:{}: {} where I expect {}", fab::escaped(name_), line_number_, fab::in_quotes(line_), expected));
  }

  std::istringstream lines_;
  std::string name_;
  std::string line_;
  int line_number_ = 0;
};

}  // namespace

Vector3 Molecule::centroid_bohr() const {
  Vector3 sum{};
  for (const Atom& atom : atoms) sum = sum + atom.position_bohr;
  return (1.0 / static_cast<double>(atoms.size())) * sum;
}

Molecule parse_xyz(std::string_view text, const std::string& name) { return XyzReader(text, name).read(); }

std::string read_text_file(const std::string& path) {
  const auto fail = [&] {
    throw InputError(fmt::format("cannot read {}: {}", fab::in_quotes(path), std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"), &std::fclose);
  if (!file) fail();
  std::string text;
  std::array<char, 4096> chunk{};
  std::size_t bytes = 0;
  do {
    bytes = std::fread(chunk.data(), 1, chunk.size(), file.get());
    text.append(chunk.data(), bytes);
  } while (bytes > 0);
  if (std::ferror(file.get())) fail();
  return text;
}

}  // namespace realspace
