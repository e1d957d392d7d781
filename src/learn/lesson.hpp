// The lessons of `zellige learn`: a page of docs/learn each, and two exercises that the command marks.
//
//   const Lesson& l = lesson(3);
//   write("lesson_03.cu", l.file);                        // the student fills in what is missing
//   for (const Mark& m : mark(l, answers, cache)) ...     // right, or a hint that names what differs
#pragma once
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emulate/buffer.hpp"
#include "emulate/engine.hpp"
#include "toolchain/cache.hpp"

namespace zellige::learn {

/// A wrong answer that is often given, and the hint that it gets.
struct WrongAnswer {
  std::string answer, hint;
};

/// A question whose answer is a number, a coordinate or a layout, on a line "// answer 1: ...".
struct Question {
  std::string expected;  // as an expression of `zellige layout`; layouts are compared as functions
  std::vector<WrongAnswer> wrong = {};
  std::string hint = {};  // of every other wrong answer
};

/// The memory and the launch of a kernel that the student completes. Its parameters are in `config`.
struct TaskLaunch {
  std::deque<emulate::Buffer> buffers;
  emulate::LaunchConfig config;

  /// Adds a buffer of n elements of T, filled by value(i) if `input`, as the kernel's next parameter.
  template <class T>
  T* add(const char* name, int n, bool input, const std::function<float(int)>& value = {}) {
    T* const data = memory<T>(name, n, input, value);
    config.parameters.emplace_back(buffers.back(), !input);
    return data;
  }
  /// The same without a parameter.
  template <class T>
  T* memory(const char* name, int n, bool input, const std::function<float(int)>& value = {}) {
    emulate::Buffer& b = buffers.emplace_back(name, n * sizeof(T));
    T* const data = reinterpret_cast<T*>(b.data());
    if (!input) return data;
    for (int i = 0; i < n; ++i) data[i] = T(value(i));
    b.mark_initialised();
    return data;
  }
};

/// A hint for a finding of the emulator, of this kind, in a file in which `written` occurs.
struct FindingHint {
  emulate::Finding::Kind kind;
  std::string written, hint;
};

/// A kernel to complete: `lesson` of the file.
struct KernelTask {
  std::function<void(TaskLaunch&)> prepare;
  /// Returns what is wrong with the results; "" if they are right.
  std::function<std::string(const TaskLaunch&)> check;
  std::vector<FindingHint> hints = {};
  bool conflict_free = false;  // accesses to shared memory must have no bank conflicts
};

/// A lesson.
struct Lesson {
  int number = 0;
  std::string title, page;  // docs/learn/page
  std::string file;         // what the student gets
  std::vector<Question> questions;
  std::vector<KernelTask> tasks = {};  // one, or none if there are two questions
};

/// Returns the lessons in their order.
const std::vector<Lesson>& lessons();
/// Returns lesson `number`. Throws Error if there is none.
const Lesson& lesson(int number);
/// Returns the file's name: lesson_03.cu.
std::string file_name(const Lesson&);

/// The mark of an exercise. `hint` says what differs, if it is wrong.
struct Mark {
  bool right = false;
  std::string hint;
};

/// Marks the exercises of a lesson's file. The kernel is compiled for the emulator and run there.
std::vector<Mark> mark(const Lesson&, const std::string& text, const toolchain::Cache&);

// The lessons by file: on layouts, on threads and memory, on Hopper.
std::vector<Lesson> layout_lessons();
std::vector<Lesson> thread_lessons();
std::vector<Lesson> hopper_lessons();

}  // namespace zellige::learn
