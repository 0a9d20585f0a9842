# SPDX-License-Identifier: MIT
"""Plans as Python values: what they say, what they refuse, how they are drawn; and the examples of the docstrings."""
import doctest
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import chasqui
import chasqui.planner

MACHINE = dict(P=8, L=6, o=2, g=4)
NOTHING_SENT = '{"chasqui":1,"machine":{"P":2,"L":1,"o":0,"g":1},"problem":{"kind":"broadcast"},"finish":5,"bound":1,"sends":[]}'


class Planner(unittest.TestCase):
    def test_a_schedule_is_a_value(self):
        schedule = chasqui.plan("broadcast", root=3, **MACHINE)
        self.assertEqual((schedule.finish, schedule.bound, schedule.optimal, len(schedule)), (24, 24, True, 7))
        self.assertEqual(schedule.machine, MACHINE)
        self.assertEqual(schedule.problem["root"], 3)
        self.assertEqual(schedule.sends[0]["from"], 3)
        self.assertEqual(schedule, chasqui.Schedule(schedule.text))
        self.assertNotEqual(schedule, chasqui.plan("broadcast", **MACHINE))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "b.json")
            schedule.save(path)
            self.assertEqual(chasqui.Schedule.read(path), schedule)

    def test_options_are_those_of_the_command_line(self):
        self.assertFalse(chasqui.plan("allreduce", P=13, L=3, non_commutative=True).problem["commutative"])
        self.assertEqual(chasqui.plan("broadcast", P="10^9", L=5, rank=7)["rank"], 7)
        self.assertEqual(chasqui.plan("broadcast", P=4, L=3, root=None, items=2).problem["items"], 2)
        self.assertTrue(chasqui.plan("allgather", P=4, L=2, o=2, g=2, exact=True, time_limit=0.5).finish > 0)

    def test_claims(self):
        claim = chasqui.bound("allgather", P=1000, L=6, o=2, g=4)
        self.assertEqual(claim.gap, claim.finish - claim.bound)
        self.assertEqual(claim.asked["machine"]["P"], 1000)
        self.assertIn(str(claim.finish), str(claim))

    def test_reports(self):
        self.assertTrue(chasqui.plan("scan", P=9, L=2).verify())
        report = chasqui.verify(NOTHING_SENT)
        self.assertFalse(report)
        self.assertEqual(report.violations[0].rule, 7)
        self.assertIn("rule 7", str(report))

    def test_plays(self):
        schedule = chasqui.plan("broadcast", **MACHINE)
        self.assertEqual(schedule.simulate()["finish"], 24)
        self.assertEqual(len(schedule.simulate()["messages"]), 7)
        many = schedule.simulate(latency="uniform:1:6", mode="event", runs=50, seed=3, threads=1)
        self.assertLessEqual(many["min"], many["median"])
        self.assertEqual(schedule.simulate(straggler=["0:100:2:4"])["finish"], 124)

    def test_pictures(self):
        schedule = chasqui.plan("broadcast", **MACHINE)
        self.assertTrue(schedule._repr_svg_().startswith("<svg"))
        picture = schedule.draw(what="chart")
        self.assertTrue(picture._repr_svg_().startswith("<svg"))
        self.assertEqual(str(picture), repr(picture))
        self.assertEqual(str(schedule.draw("chart")), str(picture))
        self.assertEqual(picture.remarks, "")
        self.assertTrue(schedule.draw(ascii=True).text.isascii())
        self.assertIn("not legal", chasqui.draw(NOTHING_SENT).remarks)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(chasqui.ChasquiError, "save .*/c.svg, and convert it"):
                picture.save(os.path.join(folder, "c.png"))
            self.assertEqual(os.listdir(folder), [])
            picture.save(os.path.join(folder, "c.svg"))
            picture.save(os.path.join(folder, "c.txt"))
            with open(os.path.join(folder, "c.svg"), encoding="utf-8") as file:
                self.assertEqual(file.read(), picture.svg)
            with open(os.path.join(folder, "c.txt"), encoding="utf-8") as file:
                self.assertEqual(file.read(), picture.text)

    def test_refusals_name_the_remedy(self):
        for words, call in {
            "-L is missing": lambda: chasqui.plan("broadcast", P=8),
            "did you mean broadcast": lambda: chasqui.plan("brodcast", **MACHINE),
            "'rot' is not an option of plan .did you mean root": lambda: chasqui.plan("broadcast", rot=1, **MACHINE),
            "the given text": lambda: chasqui.verify("{"),
        }.items():
            with self.assertRaisesRegex(chasqui.ChasquiError, words):
                call()

    def test_names_that_there_are_not(self):
        with self.assertRaisesRegex(AttributeError, "has no attribute 'jion'"):
            chasqui.jion
        self.assertTrue(callable(chasqui.join))
        told = subprocess.run([sys.executable, "-c", "import chasqui; print(dir(chasqui))"], capture_output=True, text=True, check=True).stdout
        self.assertIn("'join'", told)

    def test_the_planner_does_without_numpy(self):
        program = (
            "import sys; sys.modules['numpy'] = None\n"
            "import chasqui\n"
            "print(chasqui.plan('broadcast', P=8, L=6, o=2, g=4).finish)\n"
            "try: chasqui.join(0, 1)\n"
            "except ModuleNotFoundError as error: print(error)\n"
        )
        told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(told[0], "24")
        self.assertIn("install NumPy", told[1])

    def test_threads_have_their_own_errors(self):
        found = {}

        def ask(collective):
            try:
                for _ in range(50):
                    chasqui.bound(collective, **MACHINE)
            except chasqui.ChasquiError as error:
                found[collective] = str(error)

        threads = [threading.Thread(target=ask, args=(name,)) for name in ("nothing", "never", "scan")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found), ["never", "nothing"])
        self.assertIn("'never'", found["never"])


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(chasqui.planner))
    return tests


if __name__ == "__main__":
    unittest.main()
