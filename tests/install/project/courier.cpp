// SPDX-License-Identifier: MIT
// Plans, checks and draws with an installed Chasqui.
#include <chasqui/plan/broadcast.hpp>
#include <chasqui/show/draw.hpp>
#include <chasqui/verify/verify.hpp>
#include <cstdio>

int main() {
  const chasqui::LogP machine{8, {6}, {2}, {4}};
  const auto plan = chasqui::plan::broadcast(machine);
  const chasqui::Schedule schedule = plan->schedule();
  if (!chasqui::verify(schedule).legal() || plan->claim().finish != chasqui::Time{24}) return 1;
  std::fputs(chasqui::show::to_text(schedule, {}).c_str(), stdout);
  return 0;
}
