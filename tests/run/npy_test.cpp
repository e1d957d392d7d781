#include "run/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <thread>

#include "failing.hpp"
#include "folder.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::DType;

struct Npy {
  DType dtype;
  graph::Shape shape;
  std::vector<double> values;
};

/// Returns the array of a file with these bytes, whose name messages begin with.
Npy parse_npy(const std::string& bytes, const std::string& name) {
  static const Folder folder;
  std::filesystem::current_path(folder.path);
  system::write_whole(name, bytes);
  NpyFile file(name);
  return {file.dtype(), file.shape(), file.values()};
}

TEST(Npy, ReadsEveryHalfItWrites) {
  std::vector<double> values;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) values.push_back(graph::from_bits(DType::f16, bits));
  const Npy back = parse_npy(npy(DType::f16, {256, 256}, values), "test");
  EXPECT_EQ(back.dtype, DType::f16);
  EXPECT_EQ(back.shape, (graph::Shape{256, 256}));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(back.values[i])) << i;
    } else {
      EXPECT_EQ(back.values[i], values[i]) << i;
      EXPECT_EQ(std::signbit(back.values[i]), std::signbit(values[i])) << i;
    }
  }
}

TEST(Npy, ShapesOfEveryRank) {
  for (const graph::Shape& shape : {graph::Shape{}, {5}, {2, 3}, {1, 2, 3, 4}, {0, 7}}) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < graph::size(shape); ++i) values.push_back(0.5 * static_cast<double>(i));
    for (const DType dtype : {DType::bf16, DType::f32}) {
      const std::string file = npy(dtype, shape, values);
      EXPECT_EQ((file.size() - 4 * values.size()) % 64, 0u);
      const Npy back = parse_npy(file, "test");
      EXPECT_EQ(back.dtype, DType::f32);
      EXPECT_EQ(back.shape, shape);
      EXPECT_EQ(back.values, values);
    }
  }
}

// The bytes NumPy itself writes for numpy.save("x.npy", numpy.array([[1, 2.5]], dtype="<f2")).
TEST(Npy, BytesAreNumPys) {
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2), }";
  expected.append(127 - expected.size(), ' ').push_back('\n');
  expected += std::string("\x00\x3c\x00\x41", 4);
  EXPECT_EQ(npy(DType::f16, {1, 2}, {1, 2.5}), expected);
  EXPECT_NE(npy(DType::f16, {3}, {1, 2, 3}).find("'shape': (3,), }"), std::string::npos);
}

TEST(Npy, IntegersAndNumbersOfEightBits) {
  const std::vector<double> values = {0, 1, -1, 127, -128, 16};
  for (const DType dtype : {DType::int8, DType::int32, DType::e4m3, DType::e5m2}) {
    const Npy back = parse_npy(npy(dtype, {6}, values), "test");
    EXPECT_EQ(back.dtype, graph::is_integer(dtype) ? dtype : DType::f32);
    EXPECT_EQ(back.values, values);
  }
  const Npy wide = parse_npy(npy(DType::int32, {2}, {2147483647, -2147483648.0}), "test");
  EXPECT_EQ(wide.values, (std::vector<double>{2147483647, -2147483648.0}));
  // numpy.save("x.npy", numpy.array([1, -2], dtype="i1")) ends so.
  const std::string file = npy(DType::int8, {2}, {1, -2});
  EXPECT_NE(file.find("{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }"), std::string::npos);
  EXPECT_EQ(file.substr(file.size() - 3), std::string("\n\x01\xfe"));
}

TEST(Npy, DamagedFilesAreRefused) {
  const std::string good = npy(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_THROW(parse_npy(good.substr(0, n), "cut.npy"), Error) << n;
  auto replaced = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    return bad.replace(bad.find(from), from.size(), to);
  };
  EXPECT_EQ(message_of([&] { parse_npy("PNG", "a.npy"); }), "a.npy: is no .npy file of version 1.0");
  EXPECT_EQ(message_of([&] { parse_npy(replaced("'<f4'", "'<i8'"), "a.npy"); }),
            "a.npy: holds 24 bytes of elements; its shape (2, 3) needs 6 of 8");
  EXPECT_EQ(message_of([&] { parse_npy(replaced("False", "True "), "a.npy"); }),
            "a.npy: is column-major; only row-major files can be read");
  EXPECT_EQ(message_of([&] { parse_npy(replaced("(2, 3)", "(2, 4)"), "a.npy"); }),
            "a.npy: holds 24 bytes of elements; its shape (2, 4) needs 8 of 4");
  EXPECT_EQ(message_of([&] { parse_npy(replaced("(2, 3)", "(2;-3)"), "a.npy"); }),
            "a.npy: is no .npy file that can be read: its shape is no tuple");
}

TEST(NpyFile, ReadsNoMoreThanItsHeaderSays) {
  const Folder folder;
  const std::string good = npy(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), path = (folder / "a.npy").string();
  const auto message = [&](const std::string& bytes) {
    system::write_whole(path, bytes);
    return message_of([&] { NpyFile(path).values(); });
  };
  system::write_whole(path, good);
  EXPECT_EQ(NpyFile(path).values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_NE(message(good.substr(0, n)), "") << n;
  EXPECT_EQ(message(good + "x"), path + ": holds 25 bytes of elements; its shape (2, 3) needs 6 of 4");
  EXPECT_EQ(message(good.substr(0, good.size() - 1)),
            path + ": holds 23 bytes of elements; its shape (2, 3) needs 6 of 4");
  system::write_whole(path, good);
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // a hole, which takes no room
  EXPECT_EQ(message_of([&] { NpyFile(path).values(); }),
            path + ": holds 1099511627648 bytes of elements; its shape (2, 3) needs 6 of 4");
  EXPECT_EQ(message_of([&] { NpyFile("/dev/zero"); }), "/dev/zero: is no .npy file of version 1.0");
  EXPECT_EQ(message_of([&] { NpyFile((folder / "n\ne").string()); }),
            folder.path.string() + "/n\\ne: cannot be read: No such file or directory");
}

TEST(NpyFile, APipeThatNeverEndsIsLeft) {
  const Folder folder;
  const std::string good = npy(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), path = (folder / "pipe").string();
  const auto through = [&](const std::string& first, bool endless) {
    ::unlink(path.c_str());
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] {
      signal(SIGPIPE, SIG_IGN);
      const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      const std::string more = endless ? std::string(1 << 16, 'x') : "";
      ssize_t n = ::write(fd, first.data(), first.size());
      while (endless && n >= 0) n = ::write(fd, more.data(), more.size());
      ::close(fd);
    });
    std::string why;
    try {
      EXPECT_EQ(NpyFile(path).values().size(), 6u);
    } catch (const Error& e) {
      why = e.what();
    }
    writer.join();
    return why;
  };
  EXPECT_EQ(through(good, false), "");
  EXPECT_EQ(through(good, true), path + ": holds more than 24 bytes of elements; its shape (2, 3) needs 6 of 4");
  EXPECT_EQ(through(good.substr(0, good.size() - 4), false),
            path + ": holds 20 bytes of elements; its shape (2, 3) needs 6 of 4");
  EXPECT_EQ(through("text", true), path + ": is no .npy file of version 1.0");
}

}  // namespace
}  // namespace zellige::run
