// SPDX-License-Identifier: MIT
// The planner's half of chasqui.h: what it answers, what it refuses, and in which words.
#include "c/check.h"

static const char* const kMachine = "{\"P\": 8, \"L\": 6, \"o\": 2, \"g\": 4}";

static void answers(void) {
  char *schedule, *text;
  CHECK(chasqui_plan("broadcast", kMachine, &schedule) == 0);
  CHECK_HAS(schedule, "\"finish\"");
  CHECK(chasqui_verify(schedule, NULL, &text) == 0);
  CHECK_HAS(text, "\"legal\": true");
  CHECK_HAS(text, "\"finish\": 24");
  chasqui_free(text);
  CHECK(chasqui_simulate(schedule, "{\"latency\": \"uniform:1:6\", \"mode\": \"event\", \"runs\": 10, \"seed\": 3}",
                         &text) == 0);
  CHECK_HAS(text, "\"median\"");
  chasqui_free(text);
  CHECK(chasqui_simulate(schedule, "{\"straggler\": [\"1:5:2:4\", \"2:5:2:4\"]}", &text) == 0);
  CHECK_HAS(text, "\"critical_path\"");
  chasqui_free(text);
  CHECK(chasqui_draw(schedule, "{\"format\": \"svg\", \"what\": \"chart\"}", &text) == 0);
  CHECK(strncmp(text, "<svg", 4) == 0);
  CHECK(strcmp(chasqui_last_error(), "") == 0);
  chasqui_free(text);
  CHECK(chasqui_draw(schedule, NULL, &text) == 0);
  CHECK_HAS(text, "optimal");
  chasqui_free(text);
  chasqui_free(schedule);
}

static void many_processors(void) {
  char* text;
  CHECK(chasqui_bound("allgather", "{\"P\": 1000, \"L\": 6, \"o\": 2, \"g\": 4}", &text) == 0);
  CHECK_HAS(text, "\"bound_source\"");
  chasqui_free(text);
  CHECK(chasqui_plan("broadcast", "{\"P\": \"10^9\", \"L\": 5000000, \"o\": 2000, \"g\": 4000, \"rank\": 123456789}",
                     &text) == 0);
  CHECK_HAS(text, "\"receives\"");
  chasqui_free(text);
}

static void remarks_on_what_is_not_legal(void) {
  const char* const nothing_sent =
      "{\"chasqui\": 1, \"machine\": {\"P\": 2, \"L\": 1, \"o\": 0, \"g\": 1}, \"problem\": {\"kind\": \"broadcast\"},"
      " \"finish\": 5, \"bound\": 1, \"sends\": []}";
  char* text;
  CHECK(chasqui_verify(nothing_sent, NULL, &text) == 0);
  CHECK_HAS(text, "\"legal\": false");
  chasqui_free(text);
  CHECK(chasqui_draw(nothing_sent, NULL, &text) == 0);
  CHECK_HAS(chasqui_last_error(), "the given text: not legal: ");
  chasqui_free(text);
}

static void refusals(void) {
  char* text = (char*)&text;
  CHECK(chasqui_plan("broadcast", "{\"P\": 8}", &text) == CHASQUI_ERROR_INPUT);
  CHECK(text == NULL);
  CHECK_HAS(chasqui_last_error(), "-L is missing");
  CHECK(chasqui_plan("brodcast", kMachine, &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "did you mean broadcast?");
  CHECK(chasqui_plan("broadcast", "{\"P\": 8, \"L\": 6, \"rot\": 1}", &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "options: 'rot' is not an option of plan (did you mean root?)");
  CHECK(chasqui_plan("broadcast", "{\"P\": 8, \"L\": 6, \"root\": -1}", &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "--root -1 does not exist");
  CHECK(chasqui_plan("broadcast", "{\"P\": {}}", &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "-P is a object");
  CHECK(chasqui_plan("broadcast", "P=8", &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "options: line 1, column 1: this is not JSON");
  CHECK(chasqui_plan("broadcast", "[8]", &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "not a JSON object");
  CHECK(chasqui_plan("broadcast", "{\"P\": 8, \"P\": 9, \"L\": 6}", &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "the key \"P\" is there twice");
  enum { kDeep = 1000000 };  // as deep as this, a reader that calls itself overflows the stack
  char* const nested = malloc(kDeep + 8);
  strcpy(nested, "{\"P\":");
  memset(nested + 5, '[', kDeep);
  nested[5 + kDeep] = '\0';
  CHECK(chasqui_plan("broadcast", nested, &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "inside each other");
  free(nested);
  CHECK(chasqui_verify("{\"version\": 1", NULL, &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "the given text");
  CHECK(chasqui_verify(NULL, NULL, &text) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "schedule is a null pointer");
  CHECK(chasqui_bound("barrier", kMachine, NULL) == CHASQUI_ERROR_INPUT);
  CHECK_HAS(chasqui_last_error(), "null pointer");
  CHECK(chasqui_bound("barrier", kMachine, &text) == 0);
  CHECK(strcmp(chasqui_last_error(), "") == 0);
  chasqui_free(text);
  chasqui_free(NULL);
}

int main(void) {
  CHECK(strlen(chasqui_version()) >= 5);
  answers();
  many_processors();
  remarks_on_what_is_not_legal();
  refusals();
  return 0;
}
