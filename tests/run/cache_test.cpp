#include "run/cache.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "failing.hpp"
#include "folder.hpp"
#include "run/files.hpp"

namespace zellige::run {
namespace {

// A content that tells which writer made it, and is long enough for a write to be cut up.
std::string content_of(int writer) {
  std::string text;
  while (text.size() < 300000) text += "writer " + std::to_string(writer) + ";";
  return text;
}

TEST(Cache, ReadsBackWhatWasStored) {
  const Folder folder;
  const Cache cache(folder.path);
  const Key key = Key{}.add("source");
  EXPECT_FALSE(cache.read(key, "cubin"));
  cache.store(key, "cubin", std::string("a\0b", 3));
  EXPECT_EQ(cache.read(key, "cubin"), std::string("a\0b", 3));
  EXPECT_FALSE(cache.read(key, "so"));
  EXPECT_FALSE(cache.read(Key{}.add("other"), "cubin"));
  cache.store(key, "cubin", "");
  EXPECT_EQ(cache.read(key, "cubin"), "");
}

TEST(Cache, KeysKeepFieldsApart) {
  std::set<std::string> keys = {Key{}.hex(),
                                Key{}.add("").hex(),
                                Key{}.add("abc").hex(),
                                Key{}.add("ab").add("c").hex(),
                                Key{}.add("a").add("bc").hex(),
                                Key{}.add("1:a").hex(),
                                Key{}.add("").add("").hex()};
  EXPECT_EQ(keys.size(), 7u);
  EXPECT_EQ(Key{}.add("abc").hex(), Key{}.add("abc").hex());
  EXPECT_EQ(Key{}.hex().size(), 32u);
}

// Every way in which a file can be damaged is a miss: cut at any length, one byte changed anywhere, bytes
// added.
TEST(Cache, DamagedEntriesAreMisses) {
  const Folder folder;
  const Cache cache(folder.path);
  const Key key = Key{}.add("k");
  const auto file = cache.store(key, "cubin", "the content of an entry");
  const std::string whole = read_whole(file);
  auto miss = [&](const std::string& bytes) {
    write_whole(file, bytes);
    return !cache.read(key, "cubin") && !cache.find(key, "cubin");
  };
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_TRUE(miss(whole.substr(0, n))) << "cut at " << n;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    EXPECT_TRUE(miss(bad)) << "byte " << i;
  }
  EXPECT_TRUE(miss(whole + "x"));
  EXPECT_FALSE(miss(whole));
}

TEST(Cache, ManyProcessesWriteOneEntryWhileOthersRead) {
  const Folder folder;
  const Cache cache(folder.path);
  const Key key = Key{}.add("shared");
  cache.store(key, "so", content_of(0));
  std::vector<pid_t> children;
  for (int w = 0; w < 4; ++w) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string content = content_of(w);
      bool good = true;
      for (int i = 0; i < 40; ++i) {
        cache.store(key, "so", content);
        const auto seen = cache.read(key, "so");  // a whole entry, of whichever writer
        good = good && seen &&
               (*seen == content_of(0) || *seen == content_of(1) || *seen == content_of(2) ||
                *seen == content_of(3));
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int files = 0;
  for (const auto& f : std::filesystem::recursive_directory_iterator(folder.path))
    files += f.is_regular_file();
  EXPECT_EQ(files, 1) << "nothing is left behind";
}

TEST(Cache, ManyThreadsWriteOneEntry) {
  const Folder folder;
  const Cache cache(folder.path);
  const Key key = Key{}.add("shared");
  std::vector<std::thread> threads;
  std::atomic<int> bad = 0;
  for (int w = 0; w < 4; ++w) {
    threads.emplace_back([&, w] {
      for (int i = 0; i < 40; ++i) {
        cache.store(key, "so", content_of(w));
        const auto seen = cache.read(key, "so");
        bad += !seen || seen->size() < 300000;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(bad, 0);
}

TEST(Cache, AdoptSealsACompilersFile) {
  const Folder folder;
  const Cache cache(folder.path);
  const auto made = cache.scratch("so");
  EXPECT_NE(made, cache.scratch("so"));
  write_whole(made, "an object");
  const auto file = cache.adopt(Key{}.add("k"), "so", made);
  EXPECT_FALSE(std::filesystem::exists(made));
  EXPECT_EQ(cache.find(Key{}.add("k"), "so"), file);
  EXPECT_EQ(cache.read(Key{}.add("k"), "so"), "an object");
}

TEST(Cache, PlaceComesFromTheEnvironment) {
  const auto with = [](const char* own, const char* xdg, const char* home) {
    own ? setenv("ZELLIGE_CACHE", own, 1) : unsetenv("ZELLIGE_CACHE");
    xdg ? setenv("XDG_CACHE_HOME", xdg, 1) : unsetenv("XDG_CACHE_HOME");
    home ? setenv("HOME", home, 1) : unsetenv("HOME");
    return Cache::standard().root().string();
  };
  EXPECT_EQ(with("/own", "/xdg", "/home"), "/own");
  EXPECT_EQ(with(nullptr, "/xdg", "/home"), "/xdg/zellige");
  EXPECT_EQ(with("", "", "/home"), "/home/.cache/zellige");
  EXPECT_EQ(message_of([&] { with(nullptr, nullptr, nullptr); }),
            "kernel cache: neither ZELLIGE_CACHE nor XDG_CACHE_HOME nor HOME is set; set ZELLIGE_CACHE to a "
            "folder");
}

TEST(Cache, TemporaryOneVanishes) {
  std::filesystem::path root;
  {
    const Cache cache = Cache::temporary();
    root = cache.root();
    const Cache copy = cache;
    copy.store(Key{}, "x", "y");
    EXPECT_TRUE(std::filesystem::exists(root));
  }
  EXPECT_FALSE(std::filesystem::exists(root));
}

}  // namespace
}  // namespace zellige::run
