// Programs loaded from a manifest and a cubin: matching ones run, others are refused with both values.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "launch.hpp"

namespace {

using nlohmann::ordered_json;
using zellige::Program;

const std::string by_hand = R"({"version": 2, "name": "given", "target": "sm_90a", "buffer_size": 256,
  "tensors": [
    {"name": "X", "role": "input", "position": 0, "dtype": "f32", "shape": [4, 8], "strides": [8, 1], "bytes": 128},
    {"name": "T", "role": "intermediate", "offset": 0, "dtype": "f32", "shape": [8], "strides": [1], "bytes": 32},
    {"name": "Y", "role": "output", "position": 0, "dtype": "f32", "shape": [4, 8], "strides": [8, 1], "bytes": 128}],
  "kernels": [{"name": "k", "grid": [3, 1, 1], "block": [64, 1, 1], "shared_bytes": 0, "programmatic": true,
    "arguments": [{"tensor": "X", "writes": false}, {"bytes": "2a000000"}, {"tensor": "Y", "writes": true}]}]})";

/// A folder with given.manifest.json and given.cubin that belong together.
struct Loaded : Launch {
  void SetUp() override {
    Launch::SetUp();
    gpu().parameters = {8, 4, 8};
    gpu().arguments_per_kernel = 3;
    std::string name = testing::TempDir() + "zellige-XXXXXX";
    folder = mkdtemp(name.data());
    path = folder + "/given.manifest.json";
    write("given.cubin", compiled());
    write("given.manifest.json", seal(by_hand));
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    Launch::TearDown();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  }
  static std::string seal(const std::string& text) { return zellige::sealed(text, compiled(), "given.manifest.json"); }
  /// The error of loading, without the manifest's path.
  std::string message() const {
    const std::string found = why([&] { Program::load(path); });
    return found.starts_with(path) ? found.substr(path.size()) : found;
  }
  std::string message_of(const std::string& manifest) const {
    write("given.manifest.json", manifest);
    return message();
  }
  /// The error of sealing the manifest with a part of it replaced.
  static std::string message_of_sealing(const std::string& from, const std::string& to) {
    std::string text = by_hand;
    text.replace(text.find(from), from.size(), to);
    const std::string found = why([&] { seal(text); }), name = "given.manifest.json";
    return found.starts_with(name) ? found.substr(name.size()) : found;
  }
  std::string folder, path;
};

TEST_F(Loaded, ProgramsAreLoadedByTheirManifests) {
  Program program = Program::load(path);
  EXPECT_EQ(program.text(ZELLIGE_TARGET), "sm_90a");
  EXPECT_EQ(program.workspace(), 256);
  EXPECT_EQ(std::string(program.inputs().at(0).name), "X");
  program.launch({address(0x1000)}, {address(0x2000)}, address(0x77));
  program.call({on_gpu(0x1000, 1)}, {on_gpu(0x2000, 1)});
  ASSERT_EQ(gpu().launches.size(), 2u);
  for (const FakeLaunch& l : gpu().launches) {
    EXPECT_EQ(l.arguments[0], 0x1000u);
    EXPECT_EQ(l.arguments[1] & 0xffffffff, 42u);
    EXPECT_EQ(l.arguments[2], 0x2000u);
    EXPECT_EQ(l.grid, 3u);
    EXPECT_EQ(l.block, 64u);
    EXPECT_TRUE(l.early);
  }
  EXPECT_EQ(gpu().modules_loaded, 2) << "once a context";
  zellige_tensor x = on_gpu(0x1000, 0), y = on_gpu(0x2000, 0);
  x.device_type = y.device_type = 1;
  EXPECT_EQ(why([&] { program.call({x}, {y}); }),
            "program given: was made for the GPU, expected tensors on it, found them on the host");
  EXPECT_EQ(why([&] { program.text(ZELLIGE_SOURCE); }),
            "program given: was loaded by its manifest, which has neither source nor plan");
  EXPECT_EQ(why([&] { program.time(); }),
            "program given: was loaded by its manifest; only what is compiled here from a graph is timed");
}

TEST_F(Loaded, WhatIsSealedRemainsSealed) {
  const std::string once = seal(by_hand), manifest = Program::load(path).text(ZELLIGE_MANIFEST);
  EXPECT_EQ(seal(once), once);
  EXPECT_EQ(message_of(manifest), "nothing was refused") << "as the loaded program reports it";
  EXPECT_EQ(message_of(ordered_json::parse(once).dump()), "nothing was refused") << "blanks are not hashed";
  EXPECT_EQ(message_of(nlohmann::json::parse(once).dump(7)), "nothing was refused") << "nor is the keys' order";
}

/// Every manifest that differs from `whole` in one value or one key.
std::vector<ordered_json> edits_of(const ordered_json& whole) {
  std::vector<ordered_json> all;
  const ordered_json flat = whole.flatten();
  for (const auto& [place, value] : flat.items()) {
    const ordered_json::json_pointer at(place);
    const auto with = [&](ordered_json changed) {
      ordered_json edited = whole;
      edited[at] = std::move(changed);
      all.push_back(std::move(edited));
    };
    if (value.is_boolean()) with(!value.get<bool>());
    if (value.is_number())
      for (const int by : {1, -1, 16}) with(value.get<std::int64_t>() + by);
    if (value.is_string()) with(value.get<std::string>() + "0"), with("");
    if (value.is_string() && !value.get<std::string>().empty()) {
      std::string other = value;
      other.back() = other.back() == '1' ? '2' : '1';
      with(other);
    }
    with(nullptr);
    ordered_json less = whole, more = whole;
    ordered_json &around = less[at.parent_pointer()], &wider = more[at.parent_pointer()];
    if (around.is_object()) around.erase(at.back()), wider["also"] = 1;
    if (around.is_array()) around.erase(std::stoul(at.back())), wider.push_back(value);
    all.push_back(std::move(less)), all.push_back(std::move(more));
  }
  return all;
}

TEST_F(Loaded, EveryEditOfAManifestIsNoticed) {
  const std::vector<ordered_json> edits = edits_of(ordered_json::parse(seal(by_hand)));
  EXPECT_GT(edits.size(), 250u);
  for (const ordered_json& edited : edits) EXPECT_NE(message_of(edited.dump()), "nothing was refused") << edited.dump();
}

TEST_F(Loaded, AnEditIsNamedWithBothHashes) {
  ordered_json edited = ordered_json::parse(seal(by_hand));
  const std::string declared = edited["hash"];
  edited["kernels"][0]["grid"][0] = 4;
  const std::string again = seal(edited.dump()), found = ordered_json::parse(again)["hash"];
  EXPECT_EQ(message_of(edited.dump()),
            ": its hash says " + declared + ", and that of what it holds is " + found +
                ": it was edited after it was written; `zellige transpile` writes it again, and "
                "zellige_manifest_seal seals a hand-written one");
  EXPECT_EQ(message_of(again), "nothing was refused");
  EXPECT_NE(declared, found);
  EXPECT_TRUE(message_of(by_hand).starts_with(": its hash says nothing, and that of what it holds is "));
}

TEST_F(Loaded, ACubinThatIsAnotherOrHalfOfItIsNotLoaded) {
  const std::string whole = compiled();
  const auto declared = ordered_json::parse(seal(by_hand))["artefacts"][0];
  const auto refusal = [&](const std::string& bytes) {
    gpu().parameters = {8, 4, 8};
    const std::string hash = ordered_json::parse(zellige::sealed(by_hand, whole, "x"))["artefacts"][0]["hash"];
    EXPECT_EQ(hash, declared["hash"]);
    write("given.cubin", bytes);
    return message();
  };
  const std::string start = "program given: expected given.cubin of " + std::to_string(whole.size()) +
                            " bytes with the hash " + declared["hash"].get<std::string>() +
                            ", as its manifest says, found ";
  for (std::size_t bytes = 4; bytes < whole.size(); ++bytes) {
    const std::string found = refusal(whole.substr(0, bytes));
    EXPECT_TRUE(found.starts_with(start + std::to_string(bytes) + " bytes with the hash ")) << found;
  }
  for (std::size_t at = 4; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_TRUE(refusal(other).starts_with(start + std::to_string(whole.size()) + " bytes with the hash "));
  }
  gpu().max_threads = 64;
  const std::string other = compiled();  // another program's
  EXPECT_TRUE(refusal(other).starts_with(start + std::to_string(other.size()) + " bytes with the hash "));
  EXPECT_TRUE(refusal(other).ends_with(": the two were not written together, or the cubin was changed"));
  EXPECT_EQ(refusal("text"), ": expected a cubin, which begins as ELF does, found 4 other bytes");
  EXPECT_EQ(refusal(whole), "nothing was refused");
  EXPECT_EQ(gpu().modules_loaded, 0);
}

TEST_F(Loaded, AManifestWithoutACubinHasNone) {
  ordered_json other = ordered_json::parse(seal(by_hand));
  other["name"] = "other";  // whose cubin is other.cubin
  const std::string again = seal(other.dump());
  ordered_json without = ordered_json::parse(again);
  without["artefacts"] = ordered_json::array({without["artefacts"][0]});
  without["hash"] = "";
  const std::string hashes = message_of(without.dump());
  without["hash"] = hashes.substr(hashes.find("holds is ") + 9, 32);
  EXPECT_EQ(message_of(without.dump()),
            "program other: its manifest names no other.cubin, so none belongs to it; `zellige transpile "
            "GRAPH --target sm_90a --emit cubin` writes both");
}

TEST_F(Loaded, TheMachineCodeMustBeTheManifests) {
  EXPECT_EQ(message_of_sealing("\"name\": \"k\"", "\"name\": \"kernel\""),
            "program given: expected a kernel kernel, as its manifest says, found k in the cubin");
  EXPECT_EQ(message_of_sealing("\"target\": \"sm_90a\"", "\"target\": \"sm_80\""),
            "program given: expected machine code for sm_80, as its manifest says, found it for sm_90");
  EXPECT_EQ(message_of_sealing("{\"tensor\": \"X\", \"writes\": false}, {\"bytes\": \"2a000000\"}",
                               "{\"bytes\": \"2a000000\"}, {\"tensor\": \"X\", \"writes\": false}"),
            "program given, kernel k: expected parameters of 4, 8, 8 bytes, as its manifest says, found "
            "parameters of 8, 4, 8 bytes in the cubin");
  EXPECT_EQ(message_of_sealing(", {\"tensor\": \"Y\", \"writes\": true}", ""),
            "program given, kernel k: expected parameters of 8, 4 bytes, as its manifest says, found "
            "parameters of 8, 4, 8 bytes in the cubin");
  gpu().parameters = {};
  gpu().max_threads = 128;
  EXPECT_EQ(message_of_sealing("\"X\"", "\"X\""),
            "program given, kernel k: expected parameters of 8, 4, 8 bytes, as its manifest says, found no "
            "parameters in the cubin");
  gpu().parameters = {8, 4, 8};
  EXPECT_EQ(message_of_sealing("[64, 1, 1]", "[64, 2, 2]"),
            "program given, kernel k: expected blocks of 256 threads, as its manifest says, found at most 128 "
            "in the cubin");
  EXPECT_EQ(message_of_sealing("[64, 1, 1]", "[64, 2, 1]"), "nothing was refused");
  gpu().cluster = 3;
  EXPECT_EQ(message_of_sealing("\"X\"", "\"X\""),
            "program given, kernel k: expected clusters of (1, 1, 1) blocks, as its manifest says, found "
            "(3, 1, 1) in the cubin");
  EXPECT_EQ(message_of_sealing("[64, 1, 1],", "[64, 1, 1], \"cluster\": [3, 1, 1],"), "nothing was refused");
}

TEST_F(Loaded, LaunchesAreWithinWhatAGpuTakes) {
  const std::string kernel = ".kernels[0]";
  const auto block = [&](const std::string& extents) { return message_of_sealing("[64, 1, 1]", extents); };
  const auto grid = [&](const std::string& extents) { return message_of_sealing("[3, 1, 1]", extents); };
  const auto with = [&](const std::string& field) { return message_of_sealing("\"shared_bytes\": 0", field); };
  EXPECT_EQ(block("[4096, 1, 1]"),
            kernel + ".block: expected at most (1024, 1024, 64), as sm_90a has, found (4096, 1, 1)");
  EXPECT_EQ(block("[64, 64, 1]"),
            kernel + ".block: expected at most 1024 threads, as a block of sm_90a has, found 4096 (64 x 64 x 1)");
  EXPECT_EQ(block("[1, 1, 65]"), kernel + ".block: expected at most (1024, 1024, 64), as sm_90a has, found (1, 1, 65)");
  EXPECT_EQ(grid("[2147483648, 1, 1]"), kernel +
                                            ".grid: expected at most (2147483647, 65535, 65535), as "
                                            "sm_90a has, found (2147483648, 1, 1)");
  EXPECT_EQ(grid("[1, 65536, 1]"), kernel +
                                       ".grid: expected at most (2147483647, 65535, 65535), as sm_90a "
                                       "has, found (1, 65536, 1)");
  EXPECT_EQ(grid("[1, 1, 65536]"), kernel +
                                       ".grid: expected at most (2147483647, 65535, 65535), as sm_90a "
                                       "has, found (1, 1, 65536)");
  EXPECT_EQ(with("\"shared_bytes\": 232449"),
            kernel + ".shared_bytes: expected an integer from 0 to 232448, found 232449");
  EXPECT_EQ(with("\"shared_bytes\": -1"), kernel + ".shared_bytes: expected an integer from 0 to 232448, found -1");
  EXPECT_EQ(with("\"shared_bytes\": 0, \"cluster\": [9, 1, 1]"),
            kernel + ".cluster: expected at most (8, 1, 1), as sm_90a has, found (9, 1, 1)");
  EXPECT_EQ(with("\"shared_bytes\": 0, \"cluster\": [1, 3, 1]"),
            kernel + ".cluster: expected at most (8, 1, 1), as sm_90a has, found (1, 3, 1)");
  EXPECT_EQ(with("\"shared_bytes\": 0, \"cluster\": [2, 1, 1]"),
            kernel + ".cluster: expected a divisor of the grid's 3 blocks along x, found 2");
}

TEST_F(Loaded, WhatTheDriverKnowsOtherwiseIsNotLaunched) {
  const auto launch = [&] {
    Program program = Program::load(path);
    return why([&] { program.launch({address(0x1000)}, {address(0x2000)}, nullptr); });
  };
  const std::string start =
      "program given, kernel k: expected parameters of (8, 4, 8) bytes, as its manifest says, found ";
  for (const auto& [sizes, text] : std::vector<std::pair<std::vector<unsigned>, std::string>>{
           {{8, 8, 8}, "(8, 8, 8)"}, {{8, 4}, "(8, 4)"}, {{8, 4, 8, 4}, "(8, 4, 8, 4)"}, {{}, "()"}}) {
    gpu().driver_parameters = sizes;
    EXPECT_EQ(launch(), start + text + " by the driver");
  }
  gpu().driver_parameters.reset();
  gpu().driver_threads = 32;
  EXPECT_EQ(launch(),
            "program given, kernel k: expected to launch blocks of 64 threads, and the driver allows 32 with "
            "the 0 registers that each takes");
  EXPECT_EQ(gpu().launches.size(), 0u);
  gpu().driver_threads = 64;
  EXPECT_EQ(launch(), "nothing was refused");
}

TEST_F(Loaded, MachineCodeWithAFaultOfTheAssemblerIsNotLoaded) {
  gpu().faulty = true;
  write("given.cubin", compiled());
  EXPECT_EQ(message_of(seal(by_hand)),
            "program given: its machine code would end in an illegal instruction on the GPU, so it is not "
            "launched: "
            "kernel k: the LDGSTS at byte 0x0 takes its descriptor from UR1 (a known fault of the assembler ptxas, "
            "docs/reference/hardware.md); compile the program again, with this version of Zellige");
}

TEST_F(Loaded, VersionsBeforeTheSecondAndAfterTheThirdAreRefused) {
  std::string text = by_hand;
  text.replace(text.find("\"version\": 2"), 12, "\"version\": 1");
  const std::string first =
      ": is a manifest of version 1, which has no hashes; `zellige transpile GRAPH "
      "--target sm_90a --emit cubin` writes it again, of version 3";
  EXPECT_EQ(message_of(text), first);
  EXPECT_EQ(message_of_sealing("\"version\": 2", "\"version\": 1"), first);
  EXPECT_EQ(message_of_sealing("\"version\": 2", "\"version\": 4"), ".version: expected 2 or 3, found 4");
}

TEST_F(Loaded, WhatIsWrongWithAManifestIsReported) {
  EXPECT_EQ(message_of_sealing("\"f32\"", "\"f128\""),
            ".tensors[0].dtype: expected one of f16, bf16, f32, e4m3, e5m2, int8, int32, bool, uint8, int16, int64, "
            "int4, uint4, e2m1, e8m0, f64, found \"f128\"");
  EXPECT_EQ(message_of_sealing("[3, 1, 1]", "[3, 0, 1]"),
            ".kernels[0].grid[1]: expected an integer of at least 1, found 0");
  EXPECT_EQ(message_of_sealing("{\"tensor\": \"Y\"", "{\"tensor\": \"Z\""),
            ".kernels[0].arguments[2].tensor: expected a tensor's name, found \"Z\"");
  EXPECT_EQ(message_of_sealing("\"2a00", "\"2g00"),
            ".kernels[0].arguments[1].bytes: expected hexadecimal digits, found \"2g000000\"");
  EXPECT_EQ(message_of_sealing("\"bytes\": \"2a000000\"", "\"bytes\": \"2a000000\", \"size\": 8"),
            ".kernels[0].arguments[1].size: expected 4, the bytes of its digits, found 8");
  EXPECT_EQ(message_of_sealing("\"tensor\": \"X\", ", "\"tensor\": \"X\", \"size\": 4, "),
            ".kernels[0].arguments[0].size: expected 8, the bytes of a pointer, found 4");
  EXPECT_EQ(message_of_sealing("\"buffer_size\": 256,", ""), ": expected a field buffer_size, found none");
  EXPECT_EQ(message_of_sealing("\"strides\": [8, 1]", "\"strides\": [1]"),
            ".tensors[0].strides: expected 2 numbers, as shape has, found a list of 1");
  EXPECT_EQ(why([&] { Program::load("given.json"); }),
            "given.json: expected a manifest, NAME.manifest.json, with NAME.cubin next to it");
}

}  // namespace
