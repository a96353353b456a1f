// fab_perf reduce: how fast reductions are, in bytes of a vector per second: fab's kernels for each kind of processor
// against a plain loop that the compiler was told not to vectorise, in turns. Each rank reduces for itself.
#include <fmt/core.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/reduction/kernels.h"
#include "fab/reducible.h"
#include "perf/command.h"
#include "perf/size_progress.h"
#include "support/batches.h"
#include "support/exchange_options.h"
#include "support/sizes.h"
#include "support/table.h"

namespace perf {
namespace {

using fab::Kernel;
using fab::KernelSet;
using fab::Located;
using fab::ReduceOp;

struct ReduceOptions {
  std::string sizes = "8k,256k,16M";  ///< the first cache, the second, and beyond
  std::string only;
  bench::BatchPlan plan{.batches = 9};
  bench::RowFiles files{};
};

/// Combines vectors of so many bytes.
using Combine = std::function<void(const std::byte* in, std::byte* inout, std::size_t bytes)>;

struct Subject {
  std::string name;  ///< "sum of double"
  Combine loop;
  Combine generic;
  Combine avx2{};  ///< empty: not on this processor
};

template <class T, class Op>
void loop(const std::byte* in, std::byte* inout, std::size_t bytes) {
  const T* const from = reinterpret_cast<const T*>(in);
  T* const into = reinterpret_cast<T*>(inout);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) into[i] = Op()(from[i], into[i]);
}

template <class T, ReduceOp kOp>
Combine kernel_of(const KernelSet& kernels) {
  return
      [kernel = kernels[{kOp, fab::element_type_of<T>()}]](const std::byte* in, std::byte* inout, std::size_t bytes) {
        kernel.function(in, inout, bytes / sizeof(T) * kernel.parts);
      };
}

template <class T, ReduceOp kOp, class Op>
Subject subject(std::string name) {
  Subject made{.name = std::move(name), .loop = loop<T, Op>, .generic = kernel_of<T, kOp>(fab::kGenericKernels)};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) made.avx2 = kernel_of<T, kOp>(fab::kAvx2Kernels);
#endif
  return made;
}

struct Greater {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

/// The textbook's; std::complex's operator looks for infinities.
struct ComplexProduct {
  template <class T>
  std::complex<T> operator()(std::complex<T> a, std::complex<T> b) const {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};

struct Nearer {
  template <class Value>
  Located<Value> operator()(Located<Value> a, Located<Value> b) const {
    return a.value < b.value || (a.value == b.value && a.location < b.location) ? a : b;
  }
};

std::vector<Subject> all_subjects() {
  return {subject<double, ReduceOp::sum, std::plus<>>("sum of double"),
          subject<float, ReduceOp::sum, std::plus<>>("sum of float"),
          subject<int, ReduceOp::sum, std::plus<>>("sum of int"),
          subject<double, ReduceOp::max, Greater>("max of double"),
          subject<int, ReduceOp::max, Greater>("max of int"),
          subject<long, ReduceOp::max, Greater>("max of long"),
          subject<std::complex<double>, ReduceOp::product, ComplexProduct>("product of complex<double>"),
          subject<int, ReduceOp::logical_and, std::logical_and<>>("logical_and of int"),
          subject<int, ReduceOp::bit_xor, std::bit_xor<>>("bit_xor of int"),
          subject<Located<float>, ReduceOp::min_location, Nearer>("min_location of Located<float>"),
          subject<Located<double>, ReduceOp::min_location, Nearer>("min_location of Located<double>")};
}

std::vector<Subject> chosen_subjects(const ReduceOptions& options) {
  std::vector<Subject> subjects = all_subjects();
  std::erase_if(subjects, [&](const Subject& one) { return one.name.find(options.only) == std::string::npos; });
  return subjects;
}

/// One that is in no subject's name.
std::string check_only(const std::string& text) {
  std::string names;
  for (const Subject& one : all_subjects()) {
    if (one.name.find(text) != std::string::npos) return {};
    names += (names.empty() ? "" : ", ") + one.name;
  }
  return fab::in_quotes(text) + " is in none of: " + names;
}

class Reductions {
 public:
  Reductions(const ReduceOptions& options, const Job& job)
      : options_(options), job_(job), subjects_(chosen_subjects(options)), rows_(options.files, job.rank == 0) {}

  void run() {
    if (job_.rank == 0) start_table();
    for_each_size(
        "reduce", job_, bench::parse_sizes(options_.sizes), [&](std::size_t bytes) { return time(bytes); },
        [&](std::size_t bytes, const auto& times) { show(bytes, times); });
    rows_.write();
  }

 private:
  struct Contestant {
    const char* name;
    Combine Subject::*combine;
  };
  static constexpr Contestant kContestants[] = {
      {"loop", &Subject::loop}, {"generic", &Subject::generic}, {"avx2", &Subject::avx2}};

  /// Microseconds by batch, of each subject and contestant; none where the processor has none.
  using Times = std::vector<std::vector<std::vector<double>>>;

  Times time(std::size_t bytes) {
    const std::vector<std::byte> in(bytes);
    std::vector<std::byte> inout(bytes);
    Times times;
    for (const Subject& subject : subjects_) {
      std::vector<bench::Calls> calls;
      for (const Contestant& contestant : kContestants)
        if (const Combine& combine = subject.*contestant.combine)
          calls.emplace_back([&combine, &in, &inout, bytes](int count) {
            for (int i = 0; i < count; ++i) {
              combine(in.data(), inout.data(), bytes);
              asm volatile("" ::: "memory");
            }
          });
      std::vector<std::vector<double>>& its = times.emplace_back();
      for (bench::Times& each : bench::time_in_turns(options_.plan, calls)) its.push_back(std::move(each.us));
      its.resize(std::size(kContestants));
    }
    return times;
  }

  void start_table() {
    fmt::print(
        "\n# {} reduce: each of {} ranks combines two vectors of so many bytes; loop: not vectorised; generic, avx2: "
        "fab's kernels\n# MB/s (millions of bytes of one vector): mean over ranks, median of {} batches in turns; "
        "loop/fab: of the kernel that this processor gets, median (quartiles)\n",
        program_name(), job_.ranks, options_.plan.batches);
    table_.emplace(std::vector<std::string>{"                           what", "bytes", "loop MB/s", "generic MB/s",
                                            "avx2 MB/s", "            loop/fab"});
  }

  void show(std::size_t bytes, const Times& times) {
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      std::vector<std::string> cells = {subjects_[i].name, std::to_string(bytes)};
      for (std::size_t k = 0; k < std::size(kContestants); ++k) {
        const std::vector<double>& us = times[i][k];
        cells.push_back(us.empty() ? "-" : bench::number(megabytes_per_s(bytes, us)));
        if (!us.empty()) rows_.add(row(subjects_[i].name, kContestants[k].name, bytes, us));
      }
      const std::vector<double>& fab = times[i][2].empty() ? times[i][1] : times[i][2];
      cells.push_back(bench::ratio_text(bench::spread_of(bench::ratios(times[i][0], fab))));
      table_->print(cells);
    }
  }

  [[nodiscard]] static double megabytes_per_s(std::size_t bytes, const std::vector<double>& us) {
    return static_cast<double>(bytes) / bench::spread_of(us).median;
  }

  [[nodiscard]] bench::Row row(const std::string& what, const char* form, std::size_t bytes,
                               const std::vector<double>& us) const {
    bench::Row row = {{"bench", "reduce"},   {"what", what},   {"form", form},
                      {"ranks", job_.ranks}, {"bytes", bytes}, {"megabytes_per_s", megabytes_per_s(bytes, us)}};
    bench::add_times(row, "us", us);
    return row;
  }

  const ReduceOptions& options_;
  Job job_;
  std::vector<Subject> subjects_;
  std::optional<bench::Table> table_;
  bench::Rows rows_;
};

}  // namespace

Action add_reduce(CLI::App& app) {
  const auto options = std::make_shared<ReduceOptions>();
  bench::add_sizes(app, options->sizes, "Bytes of a vector: a range FIRST:LAST[:FACTOR] or a list");
  app.add_option("--only", options->only, "Only operations with this in their name, e.g. double")
      ->check(CLI::Validator(check_only, ""));
  bench::add_batch_options(app, options->plan);
  bench::add_file_options(app, options->files);
  return {.run = [options](const Job& job) { Reductions(*options, job).run(); }};
}

}  // namespace perf
