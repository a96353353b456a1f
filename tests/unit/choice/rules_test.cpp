// Rules that choose algorithms, and the files that hold them.
#include "collectives/choice/rules.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "collectives/choice/built_in_rules.h"
#include "collectives/choice/select.h"
#include "core/base/processors.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

using collectives::CollectiveCall;
using collectives::parse_rules;
using collectives::Rule;
using collectives::Rules;
using collectives::Where;

constexpr const char* kFile = R"({ "version": 1, "made_by": "hand",
  "rules": [ { "collective": "allreduce", "most_bytes": 1024, "most_ranks": 16, "least_per_node": 2, "where": "node",
               "algorithm": "ring" },
             { "collective": "allreduce", "algorithm": "rabenseifner" } ] })";

/// A file that is there for one test.
class RulesFile : public testing::Test {
 protected:
  void SetUp() override { write(kFile); }
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }

  const std::string path_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "_rules.json";
};

std::string named(const CollectiveCall& call, const Config& config) { return collectives::select(call, config).name; }

TEST(Rules, AreReadFromText) {
  const Rules rules = parse_rules(kFile, "file");
  EXPECT_EQ(rules.name, "file");
  const std::vector<Rule> expected = {
      {Collective::allreduce, 1024, 16, 2, Where::node, "ring"},
      {Collective::allreduce, collectives::kAnyBytes, collectives::kAnyRanks, 1, Where::anywhere, "rabenseifner"}};
  EXPECT_EQ(rules.rows, expected);
  EXPECT_TRUE(parse_rules("{\"rules\":[]}", "file").rows.empty());
}

TEST(Rules, AreWrittenAsTheyAreRead) {
  const Rules& built_in = collectives::built_in_rules();
  const Rules again = parse_rules(collectives::to_json(built_in, "a \"test\""), "again");
  EXPECT_EQ(again.rows, built_in.rows);
  EXPECT_EQ(collectives::digest_of(again), collectives::digest_of(built_in));
  Rules other = again;
  other.rows.front().most_bytes -= 1;
  EXPECT_NE(collectives::digest_of(other), collectives::digest_of(built_in));
}

constexpr const char* kLengths = R"({ "rules": [], "lengths": [
  { "processor": "one", "program": { "unknown": 300, "changing": 400, "constant": 200 },
    "fab": { "unknown": 150, "changing": 160, "constant": 128 } },
  { "processor": "two", "program": { "unknown": 300, "changing": 1048576, "constant": 200 },
    "fab": { "unknown": 150, "changing": 160, "constant": 128 } } ] })";

TEST(Rules, MayHaveLengthsForKindsOfProcessors) {
  const Rules rules = parse_rules(kLengths, "file");
  const LocalLengths expected{{.unknown = 300, .changing = 400, .constant = 200},
                              {.unknown = 150, .changing = 160, .constant = 128}};
  EXPECT_EQ(collectives::lengths_of(rules, "one"), expected);
  EXPECT_EQ(collectives::lengths_of(rules, "two")->program.changing, 1048576u);
  EXPECT_EQ(collectives::lengths_of(rules, "three"), std::nullopt);
  const Rules again = parse_rules(collectives::to_json(rules, "a test"), "again");
  EXPECT_EQ(again.lengths, rules.lengths);
  EXPECT_EQ(collectives::digest_of(rules), collectives::digest_of(parse_rules(R"({"rules": []})", "file")))
      << "ranks on other processors have other lengths";
}

TEST(Rules, WithLengthsThatAreWrongNameWhatIsValid) {
  const auto refuses = [](const std::string& lengths, const char* part) {
    expect_error(Errc::configuration, {"mine: ", part},
                 [&] { (void)parse_rules("{\"rules\": [], \"lengths\": " + lengths + "}", "mine"); });
  };
  const std::string good = R"({"unknown": 300, "changing": 400, "constant": 200})";
  refuses("7", "lengths is 7; an array is valid");
  refuses("[7]", "lengths 1: 7 is no object");
  refuses("[{}]", "lengths 1: the field processor is missing, or no text; e.g. ");
  refuses(R"([{"processor": "one", "fab": )" + good + "}]", "lengths 1: the field program is missing");
  refuses(R"([{"processor": "one", "program": )" + good + R"(, "fab": {"unknown": 300}}])",
          "lengths 1: fab: the field changing is missing");
  refuses(R"([{"processor": "one", "program": {"unknown": 127}}])",
          "lengths 1: program: unknown is 127; a whole number from 128 to 98304 is valid");
  refuses(R"([{"processor": "one", "program": {"unknown": 300, "changing": 1048577}}])",
          "lengths 1: program: changing is 1048577; a whole number from 128 to 1048576 is valid");
  refuses(R"([{"processor": "one", "program": {"least": 1}}])", "there is no field \"least\"; known are unknown, ");
  const std::string one = R"({"processor": "one", "program": )" + good + R"(, "fab": )" + good + "}";
  refuses("[" + one + "," + one + "]", "lengths 2: the processor \"one\" stands here twice");
}

TEST(Rules, CoverCallsByBytesRanksAndPlace) {
  Rule rule{Collective::bcast, 100, 8, 4, Where::anywhere, "chain"};
  CollectiveCall call{.collective = Collective::bcast, .ranks = 8, .one_node = true, .bytes = 100};
  EXPECT_TRUE(rule.covers(call));
  rule.least_per_node = 9;
  EXPECT_FALSE(rule.covers(call));
  rule.least_per_node = 8;
  rule.where = Where::nodes;
  EXPECT_FALSE(rule.covers(call));
  rule.where = Where::node;
  EXPECT_TRUE(rule.covers(call));
  rule.where = Where::crowded;
  EXPECT_FALSE(rule.covers(call));
  call.crowded = true;
  EXPECT_TRUE(rule.covers(call));
  rule.where = Where::node;
  EXPECT_TRUE(rule.covers(call));
  call.bytes = 101;
  EXPECT_FALSE(rule.covers(call));
  call.bytes = 1;
  call.ranks = 9;
  EXPECT_FALSE(rule.covers(call));
  call = {.collective = Collective::bcast, .ranks = 8, .bytes = 100};
  EXPECT_FALSE(rule.covers(call)) << "they share no memory";
  rule.where = Where::nodes;
  EXPECT_FALSE(rule.covers(call)) << "nor is it known that several are on each node";
  const core::NodeMap nodes = core::NodeMap::regular(8, 3);
  call.nodes = &nodes;
  EXPECT_FALSE(rule.covers(call));
  rule.least_per_node = 3;
  EXPECT_FALSE(rule.covers(call)) << "the smallest node has 2";
  rule.least_per_node = 2;
  EXPECT_TRUE(rule.covers(call));
  call.collective = Collective::reduce;
  EXPECT_FALSE(rule.covers(call));
}

TEST(Rules, CoverNodesThatTcpJoins) {
  const Rule rule{Collective::bcast, 100, 8, 1, Where::tcp, "chain"};
  const core::NodeMap nodes = core::NodeMap::regular(8, 3);
  CollectiveCall call{.collective = Collective::bcast, .ranks = 8, .nodes = &nodes, .bytes = 100};
  EXPECT_FALSE(rule.covers(call)) << "a card carries what goes between them";
  call.over_tcp = true;
  EXPECT_TRUE(rule.covers(call));
  call.nodes = nullptr;
  EXPECT_FALSE(rule.covers(call)) << "it is not known that some ranks share a node";
}

TEST(Rules, WithWhatIsWrongNameFileRuleFieldAndWhatIsValid) {
  const auto refuses = [](const std::string& rule, const char* part) {
    expect_error(Errc::configuration, {"mine: rule 2: ", part}, [&] {
      (void)parse_rules("{\"rules\": [{\"collective\": \"barrier\", \"algorithm\": \"dissemination\"}, " + rule + "]}",
                        "mine");
    });
  };
  refuses("7", "7 is no object");
  refuses("{}", "the field collective is missing");
  refuses(R"({"collective": "bcst"})", "collective is \"bcst\"; valid are barrier, bcast, reduce, ");
  refuses(R"({"collective": "bcast"})", "the field algorithm is missing");
  refuses(R"({"collective": "bcast", "algorithm": "ring"})",
          "algorithm is \"ring\"; those of bcast are binomial, linear, ");
  refuses(R"({"collective": "bcast", "algorithm": "chain", "most_bytes": -4})",
          "most_bytes is -4; a whole number from 0 to ");
  refuses(R"({"collective": "bcast", "algorithm": "chain", "most_bytes": 1e3})",
          "most_bytes is 1000.0; a whole number");
  refuses(R"({"collective": "bcast", "algorithm": "chain", "most_ranks": "8"})",
          "most_ranks is \"8\"; a whole number from 1 to ");
  refuses(R"({"collective": "bcast", "algorithm": "chain", "least_per_node": 0})",
          "least_per_node is 0; a whole number from 1 to ");
  refuses(R"({"collective": "bcast", "algorithm": "chain", "where": "here"})",
          "where is \"here\"; valid are anywhere, node, nodes, scattered, crowded, tcp");
  refuses(
      R"({"collective": "bcast", "algorithm": "chain", "bytes": 8})",
      "there is no field \"bytes\"; known are collective, most_bytes, most_ranks, least_per_node, where, algorithm");
}

TEST(Rules, FilesThatAreNoJsonNameTheLine) {
  const auto refuses = [](const std::string& text, const char* part) {
    expect_error(Errc::configuration, {"mine", part}, [&] { (void)parse_rules(text, "mine"); });
  };
  refuses("", "mine is no JSON: parse error at line 1, column 1: ");
  refuses("{\n\"rules\": [\n}", "line 3, column 1: ");
  refuses("{\"rules\": []} x", "line 1, column 15: ");
  refuses("{\"rules\": [\"a]}", "missing closing quote");
  refuses("{rules: []}", "expected string literal");
  refuses("{\"rules\": \x1b}", "<U+001B>'");
  refuses("{\"rules\": \"" + std::string(1000, 'a') + '\xff', "aaa...");
  refuses(std::string(100'000, '['), "unexpected end of input");
  refuses(std::string(100'000, '[') + std::string(100'000, ']'), "an array is no object");
  refuses(R"({"rules": [{"collective": "bcast", "collective": "bcast"}]})",
          "mine has the field \"collective\" twice in one object");
  refuses("[]", "an array is no object");
  refuses("{}", "an array \"rules\" is missing");
  refuses("{\"version\": 2, \"rules\": []}", "version is 2; a whole number from 1 to 1 is valid");
}

TEST_F(RulesFile, ReplacesTheBuiltInRules) {
  Config config = caller_config();
  config.rules = path_;
  config = collectives::with_rules(config);
  EXPECT_THAT(config.rules, testing::StartsWith(path_ + " (digest ")) << "which ranks compare";
  CollectiveCall call{.collective = Collective::allreduce,
                      .ranks = 8,
                      .one_node = true,
                      .bytes = 1024,
                      .operation = {.element_bytes = 1, .commutative = true}};
  EXPECT_EQ(named(call, config), "ring");
  call.one_node = false;
  EXPECT_EQ(named(call, config), "rabenseifner");
  call.operation.commutative = false;
  EXPECT_EQ(named(call, config), "recursive_doubling") << "the first algorithm, where no rule fits";
  EXPECT_EQ(named({.collective = Collective::alltoall, .ranks = 8, .bytes = 8}, config), "pairwise");
  std::filesystem::remove(path_);
  EXPECT_EQ(collectives::with_rules(config).rules, config.rules) << "it is read once";
}

TEST_F(RulesFile, BringsTheLengthsOfThisNodesProcessors) {
  const auto lengths_for = [this](const std::string& processor) {
    std::string text = kLengths;
    text.replace(text.find("\"two\""), 5, "\"" + processor + "\"");
    write(text);
    Config config = caller_config();
    config.rules = path_;
    return collectives::with_rules(config).local_lengths;
  };
  const auto own = lengths_for(core::processor_kind());
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->program.changing, 1048576u);
  EXPECT_EQ(lengths_for("another one"), std::nullopt);
}

TEST_F(RulesFile, WithAFaultIsRefusedByTheVariablesName) {
  Config config = caller_config();
  config.rules = path_;
  write("{\"rules\": [{\"collective\": \"bcast\", \"algorithm\": \"magic\"}]}");
  expect_error(Errc::configuration, {"FAB_RULES: ", path_.c_str(), ": rule 1: algorithm is \"magic\""},
               [&] { (void)collectives::with_rules(config); });
  config.rules = path_ + ".none";
  expect_error(Errc::configuration, {"FAB_RULES: the file", path_.c_str(), ".none\" cannot be read"},
               [&] { (void)collectives::with_rules(config); });
}

}  // namespace
}  // namespace fab::test
