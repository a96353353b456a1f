// What the main() functions of launched tests share: GoogleTest on many ranks, readable as one.
#pragma once

namespace fab::test {

/// Runs every test of this rank. Rank 0 prints as usual, the others print only failures, each with its rank.
/// `--expect-ranks=N` makes a job of another size fail, so that N singletons are no pass.
/// Returns the exit status of this rank: 0 only when at least one test ran and none failed.
int run_tests(int argc, char** argv, int rank, int size);

}  // namespace fab::test
