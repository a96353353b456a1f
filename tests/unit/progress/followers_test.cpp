// Notices of what has ended: their descriptor.
#include "core/progress/followers.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace fab::test {
namespace {

bool readable(int fd) {
  pollfd event{fd, POLLIN, 0};
  return ::poll(&event, 1, 0) == 1;
}

// Who tests a request, and only then asks for the descriptor, must not miss what has ended in between.
TEST(Followers, DescriptorTellsOfNoticesFromBeforeItWasMade) {
  core::Followers followers;
  followers.notify();
  EXPECT_TRUE(readable(followers.descriptor()));
}

TEST(Followers, DescriptorIsReadableOnceForAllNotices) {
  core::Followers followers;
  const int fd = followers.descriptor();
  EXPECT_EQ(followers.descriptor(), fd);
  followers.clear_descriptor();
  EXPECT_FALSE(readable(fd));
  followers.notify();
  followers.notify();
  EXPECT_TRUE(readable(fd));
  followers.clear_descriptor();
  EXPECT_FALSE(readable(fd));
}

TEST(Followers, ClearWithoutADescriptorDoesNothing) {
  core::Followers followers;
  followers.clear_descriptor();
  EXPECT_TRUE(readable(followers.descriptor()));
}

}  // namespace
}  // namespace fab::test
