// SPDX-License-Identifier: MIT
#include "run/faults/post.hpp"

#include <algorithm>
#include <cstring>

namespace chasqui::run {
namespace {

struct News {
  enum class What : std::uint32_t { failure, refusal, call };
  std::uint64_t stamp;  ///< of the communicator
  What what;
  std::uint64_t first, last;  ///< numbers of calls
  Signature call;
  char why[400];  ///< not sent with a call
};

}  // namespace

NewsByPost::~NewsByPost() { listen(); }  // takes in bad news that nobody asked for

void NewsByPost::tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why) {
  post_->disturbed();
  News news{stamp_, refusal ? News::What::refusal : News::What::failure, first, last, {}, {}};
  std::memcpy(news.why, why.data(), std::min(why.size(), sizeof news.why - 1));
  for (int r = 0; r < size_; ++r) {
    if (r != rank_) post_->send(r, &news, sizeof news);
  }
}

void NewsByPost::report(std::uint64_t first, std::uint64_t last, const std::string& why) {
  tell_all(first, last, false, why);
}

void NewsByPost::refuse(std::uint64_t number, const std::string& why) { tell_all(number, number, true, why); }

void NewsByPost::tell(int to, std::uint64_t number, const Signature& call) {
  const News news{stamp_, News::What::call, number, number, call, {}};
  post_->send(to, &news, offsetof(News, why));
}

void NewsByPost::listen() {
  for (News news{};; news = {}) {
    const auto from = post_->receive(&news, sizeof news);
    if (!from) return;
    if (news.stamp != stamp_) continue;
    if (news.what == News::What::call) {
      told_.push_back({*from, news.first, news.call});
      continue;
    }
    post_->disturbed();
    if (news.what == News::What::refusal) heard_.refuse(news.first, news.why);
    else heard_.report(news.first, news.last, news.why);
  }
}

std::optional<Told> NewsByPost::hear() {
  if (told_.empty()) listen();
  if (told_.empty()) return std::nullopt;
  const Told first = told_.front();
  told_.pop_front();
  return first;
}

bool NewsByPost::failed(std::uint64_t number, const std::vector<std::uint64_t>& own) {
  listen();
  return heard_.concerns(number, own);
}

}  // namespace chasqui::run
