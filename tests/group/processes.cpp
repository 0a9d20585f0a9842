// SPDX-License-Identifier: MIT
#include "processes.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace chasqui::group {

Processes::~Processes() {
  for (Child& child : children_) {
    if (child.process == 0) continue;
    kill(child.process, SIGKILL);
    waitpid(child.process, nullptr, 0);
    close(child.output);
  }
}

void Processes::start(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child != 0) {
    close(ends[1]);
    children_.push_back({child, ends[0]});
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const Child& other : children_) close(other.output);
  int status = 0;
  std::string text;
  try {
    text = body();
  } catch (const std::exception& error) {
    text = error.what();
    status = 1;
  }
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
    if (written <= 0) break;
    at += static_cast<std::size_t>(written);
  }
  _exit(status);
}

End Processes::end(std::size_t which) {
  Child& child = children_[which];
  End end;
  char buffer[4096];
  for (ssize_t came; (came = read(child.output, buffer, sizeof buffer)) > 0;)
    end.text.append(buffer, static_cast<std::size_t>(came));
  int status = 0;
  waitpid(child.process, &status, 0);
  close(child.output);
  child.process = 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return end;
}

std::vector<End> run_ranks(int n, const std::function<std::string(int rank)>& body) {
  Processes processes;
  for (int rank = 0; rank < n; ++rank) processes.start([&, rank] { return body(rank); });
  std::vector<End> ends;
  for (int rank = 0; rank < n; ++rank) ends.push_back(processes.end(static_cast<std::size_t>(rank)));
  return ends;
}

std::string with_a_child_that_ends(std::unique_ptr<run::Comm> comm) {
  std::vector<long> data(1000, comm->rank() + 1);
  comm->barrier();
  if (comm->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  run::Request request = comm->iallreduce(data, data);
  if (comm->rank() == 1) {
    const pid_t child = fork();
    if (child == 0) {
      comm->leave("it is no rank");
      comm = nullptr;
      _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) throw std::runtime_error("the child has not ended well");
  }
  request.wait();
  if (comm->rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));  // waited for, not missed
  return std::to_string(data.back()) + " " + std::to_string(comm->allreduce(comm->rank() + 1));
}

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "chasqui-group-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
  path_ = name;
}
Folder::~Folder() { std::filesystem::remove_all(path_); }
bool Folder::empty() const { return std::filesystem::is_empty(path_); }

}  // namespace chasqui::group
