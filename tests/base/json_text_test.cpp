// SPDX-License-Identifier: MIT
// What the reader of JSON documents refuses, with the place.
#include "base/json_text.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

std::string json_complaint(const std::string& text) {
  try {
    json_document(text, "f", "ask");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(JsonText, ReadsWhatIsOrdinary) {
  const std::string text = R"({"a":[1,-2,2.5,true,null,{"b":"x"}],"c":{}})";
  EXPECT_EQ(json_document(text, "f", "ask").dump(), text);
  EXPECT_EQ(json_document("\xef\xbb\xbf{\r\n}\r\n", "f", "ask").dump(), "{}") << "a mark of UTF-8 and lines of Windows";
  EXPECT_EQ(json_document("18446744073709551615", "f", "ask").get<std::uint64_t>(), ~std::uint64_t{0});
}

TEST(JsonText, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(json_complaint("{\"a\":1,\n \"a\":2}"), "f: line 2, column 4: the key \"a\" is there twice; ask");
  EXPECT_EQ(json_complaint("{\"a\":1,\n \"b\":{\"a\":1}}"), "");
  EXPECT_EQ(json_complaint("[1,\n" + std::string(400, '9') + "]").substr(0, 10), "f: line 2,");
  EXPECT_NE(json_complaint("[1,\n" + std::string(400, '9') + "]").find("this number is too large"), std::string::npos);
  EXPECT_NE(json_complaint("[1 2]").find("f: line 1, column 4: this is not JSON"), std::string::npos);
  EXPECT_NE(json_complaint("{} {}").find("this is not JSON"), std::string::npos);
  EXPECT_EQ(json_complaint(""), "f: the text ends too early, after byte 0; ask");
  EXPECT_EQ(json_complaint("[1,"), "f: the text ends too early, after byte 3; ask");
  EXPECT_NE(json_complaint(std::string(100'000, '[')).find("column 65: more than 64 values inside each other"),
            std::string::npos);
  EXPECT_NE(json_complaint(std::string("{\"a\"\0:1}", 8)).find("column 5: this is not JSON"), std::string::npos);
}

}  // namespace
}  // namespace chasqui
