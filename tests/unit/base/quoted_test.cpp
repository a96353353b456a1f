#include "core/base/quoted.h"

#include <gmock/gmock.h>

namespace fab {
namespace {

TEST(InQuotes, PlainTextStaysAsItIs) {
  EXPECT_EQ(in_quotes("net"), "\"net\"");
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(escaped("Zürich, 東京"), "Zürich, 東京");
}

TEST(InQuotes, NothingThatATerminalObeysIsLeft) {
  EXPECT_EQ(in_quotes("a\x1b[2Jb\n\r\t"), "\"a\\x1b[2Jb\\n\\r\\t\"");
  EXPECT_EQ(escaped(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "31m"),
            "\\xc2\\x9b31m")
      << "a control character of eight bits";
  EXPECT_EQ(escaped("\xe2\x80\xae"
                    "x"),
            "\\xe2\\x80\\xaex")
      << "turns the direction of writing";
}

TEST(InQuotes, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(escaped("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(escaped("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf") << "longer than it need be";
}

TEST(InQuotes, LongTextIsShortened) {
  EXPECT_EQ(in_quotes(std::string(1000, 'x'), 4), "\"xxxx...\" (1000 bytes)");
  EXPECT_EQ(in_quotes("xxxx", 4), "\"xxxx\"");
  EXPECT_EQ(in_quotes("xxxüx", 4), "\"xxx...\" (6 bytes)") << "no half characters";
}

}  // namespace
}  // namespace fab
