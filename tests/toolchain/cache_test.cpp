#include "toolchain/cache.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "../run/failing.hpp"
#include "../run/folder.hpp"
#include "system/files.hpp"

namespace zellige::toolchain {
namespace {

// A content that identifies its writer, and is long enough to be written in several pieces.
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

TEST(Cache, TheOldestOfAKindAreTrimmed) {
  const Folder folder;
  const Cache cache(folder.path);
  const std::string content(1000, 'x');
  std::vector<std::filesystem::path> files;
  for (const char* name : {"old", "newer", "newest"}) {
    files.push_back(cache.store(Key{}.add(name), "program", content));
    const auto written = std::filesystem::file_time_type::clock::now() - std::chrono::hours(9 - files.size());
    std::filesystem::last_write_time(files.back(), written);
  }
  const auto other = cache.store(Key{}.add("other"), "cubin", content);
  std::filesystem::last_write_time(other, std::filesystem::file_time_type::min());
  const auto left = [&] {
    std::vector<bool> there;
    for (const auto& file : files) there.push_back(std::filesystem::exists(file));
    return there;
  };
  cache.trim("program", 4000);
  EXPECT_EQ(left(), (std::vector<bool>{true, true, true}));
  cache.trim("program", 2500);
  EXPECT_EQ(left(), (std::vector<bool>{false, true, true}));
  cache.trim("program", 10);
  EXPECT_EQ(left(), (std::vector<bool>{false, false, false}));
  EXPECT_TRUE(cache.read(Key{}.add("other"), "cubin"));
}

TEST(Cache, KeysSeparateTheirFields) {
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
  const std::string whole = system::read_whole(file);
  auto miss = [&](const std::string& bytes) {
    system::write_whole(file, bytes, 0600);
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

TEST(Cache, AnEntryUnderAnotherKeyOrEndingIsAMissAndReported) {
  const Folder folder;
  const Cache cache(folder.path);
  const Key one = Key{}.add("one"), two = Key{}.add("two");
  const auto first = cache.store(one, "so", "the first"), second = cache.store(two, "so", "the second"),
             cubin = cache.store(one, "cubin", "a cubin");
  const auto message = [&](const Key& key, std::string_view suffix) {
    std::string note;
    EXPECT_FALSE(cache.read(key, suffix, &note));
    EXPECT_FALSE(cache.find(key, suffix));
    return note;
  };
  system::write_whole(second, system::read_whole(first), 0600);
  const std::string start = "the kernel cache's " + second.lexically_relative(folder.path).string() +
                            " is not used, and made again: it is the entry of the key ";
  const std::string note = message(two, "so");
  EXPECT_TRUE(note.starts_with(start)) << note;
  EXPECT_NE(note.find(", expected that of "), note.npos) << note;
  system::write_whole(cubin, system::read_whole(first), 0600);
  EXPECT_NE(message(one, "cubin").find("it is the entry of the key "), note.npos);
  system::write_whole(second, "short", 0600);
  EXPECT_TRUE(message(two, "so").ends_with(" is not used, and made again: it has 5 bytes"));
  std::string changed = system::read_whole(first);
  changed[0] = 'T';
  system::write_whole(first, changed, 0600);
  const std::string hashes = message(one, "so");
  EXPECT_NE(hashes.find("again: its hash is "), note.npos) << hashes;
  EXPECT_NE(hashes.find(", expected "), note.npos) << hashes;
  cache.store(one, "so", "the first");
  EXPECT_EQ(cache.read(one, "so"), "the first");
  EXPECT_EQ(message(Key{}.add("none"), "so"), "") << "of what is not there nothing is said";
}

unsigned mode_of(const std::filesystem::path& file) {
  return static_cast<unsigned>(std::filesystem::status(file).permissions());
}

TEST(Cache, FoldersAndFilesAreTheUsersAlone) {
  const Folder folder;
  const mode_t before = umask(0);
  const Cache cache(folder / "above/cache");
  cache.store(Key{}.add("k"), "so", "an object");
  system::write_whole(cache.scratch("cubin"), "x", 0600);
  umask(before);
  EXPECT_EQ(mode_of(folder / "above"), 0700u);
  EXPECT_EQ(mode_of(cache.root()), 0700u);
  int files = 0;
  for (const auto& f : std::filesystem::recursive_directory_iterator(cache.root()))
    EXPECT_EQ(mode_of(f.path()), f.is_directory() ? 0700u : 0600u) << f.path() << " " << ++files;
}

TEST(Cache, AFolderThatOthersMayWriteIsRefused) {
  const Folder folder;
  const Cache cache(folder.path);
  const Key key = Key{}.add("k");
  const auto file = cache.store(key, "so", "an object");
  const std::string end =
      ": others may put code there that this process runs; make it this user's alone (chmod 700), or set "
      "ZELLIGE_CACHE to another folder";
  for (const std::filesystem::path& at : {folder.path, file.parent_path()})
    for (const unsigned mode : {0777u, 0775u, 0702u, 0720u, 01777u}) {
      chmod(at.c_str(), mode);
      const std::string message =
          fmt::format("kernel cache {}: its mode is {:04o}, expected 0700{}", at.string(), mode, end);
      EXPECT_EQ(message_of([&] { cache.read(key, "so"); }), message);
      EXPECT_EQ(message_of([&] { cache.find(key, "so"); }), message);
      EXPECT_EQ(message_of([&] { cache.store(key, "so", "other"); }), message);
      chmod(at.c_str(), 0700);
    }
  chmod(folder.path.c_str(), 0755);
  EXPECT_EQ(cache.read(key, "so"), "an object") << "that others may read harms nobody";
}

TEST(Cache, AFileThatOthersMayWriteOrALinkIsNotUsed) {
  const Folder folder;
  const Cache cache(folder.path);
  const Key key = Key{}.add("k");
  const auto file = cache.store(key, "so", "an object");
  const auto message = [&] {
    std::string note;
    EXPECT_FALSE(cache.find(key, "so", &note));
    return note.substr(note.find("again: ") + 7);
  };
  chmod(file.c_str(), 0666);
  EXPECT_EQ(message(), file.string() +
                           ": its mode is 0666, expected 0600: others may put code there that this "
                           "process runs");
  EXPECT_EQ(message_of([&] { system::PrivateFile{file}; }),
            file.string() +
                ": its mode is 0666, expected 0600: others may put code there that this process "
                "runs");
  const auto aside = folder / "aside";
  std::filesystem::rename(file, aside);
  chmod(aside.c_str(), 0600);
  std::filesystem::create_symlink(aside, file);
  EXPECT_EQ(message(), file.string() + ": is a link, expected a file of this user's");
  cache.store(key, "so", "an object");
  EXPECT_TRUE(cache.find(key, "so"));
  EXPECT_FALSE(std::filesystem::is_symlink(file));
}

TEST(Cache, WhatBelongsToAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives a folder away";
  const Folder folder;
  const Cache cache(folder / "cache");
  const Key key = Key{}.add("k");
  const auto file = cache.store(key, "so", "an object");
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  std::string note;
  EXPECT_FALSE(cache.read(key, "so", &note));
  EXPECT_TRUE(note.ends_with(": it belongs to user 12345, expected user 0, as whom this process runs")) << note;
  ASSERT_EQ(chown(cache.root().c_str(), 12345, 12345), 0);
  const std::string why = "kernel cache " + cache.root().string() +
                          ": it belongs to user 12345, expected user 0, as whom this process runs; make it this "
                          "user's alone (chmod 700), or set ZELLIGE_CACHE to another folder";
  EXPECT_EQ(message_of([&] { cache.read(key, "so"); }), why);
  EXPECT_EQ(message_of([&] { cache.scratch("so"); }), why);
  ASSERT_EQ(chown(cache.root().c_str(), 0, 0), 0);
  std::filesystem::create_symlink(cache.root(), folder / "link");
  EXPECT_TRUE(Cache(folder / "link").scratch("so").string().size() > 0) << "a link of one's own is followed";
  ASSERT_EQ(lchown((folder / "link").c_str(), 12345, 12345), 0);
  EXPECT_EQ(message_of([&] { Cache(folder / "link").scratch("so"); }),
            "kernel cache " + (folder / "link").string() +
                ": it is a link of user 12345, expected user 0, as whom this process runs; make it this user's "
                "alone (chmod 700), or set ZELLIGE_CACHE to another folder");
}

/// The loaded file is the checked one, even if its path changes.
TEST(Cache, AFileIsLoadedByItsDescriptor) {
  const Folder folder;
  system::write_whole(folder / "a", "checked", 0600);
  system::write_whole(folder / "b", "exchanged", 0600);
  const system::PrivateFile file(folder / "a");
  std::filesystem::rename(folder / "b", folder / "a");
  EXPECT_EQ(file.content(), "checked");
  EXPECT_EQ(system::read_whole(file.path()), "checked");
  std::set<std::string> names;
  for (int i = 0; i < 3000; ++i) names.insert(file.path());
  EXPECT_EQ(names.size(), 3000u) << "dlopen takes equal names for one library";
  for (const std::string& name : names) EXPECT_EQ(system::read_whole(name), "checked") << name;
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
               (*seen == content_of(0) || *seen == content_of(1) || *seen == content_of(2) || *seen == content_of(3));
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
  for (const auto& f : std::filesystem::recursive_directory_iterator(folder.path)) files += f.is_regular_file();
  EXPECT_EQ(files, 1) << "nothing remains";
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

TEST(Cache, ScratchFilesDiffer) {
  const Folder folder;
  const Cache cache(folder.path);
  EXPECT_NE(cache.scratch("so"), cache.scratch("so"));
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
}  // namespace zellige::toolchain
