import { expect, test } from "vitest";
import { timeLine } from "../../src/platform/rendering.js";

test.each([
  ["2026-11-22T14:05:09.123Z", "Europe/Lisbon", "Sunday 22 November 2026, 14:05 Europe/Lisbon; this weekend: 28–29 November"],
  ["2026-11-21T09:00:00Z", "UTC", "Saturday 21 November 2026, 09:00 UTC; this weekend: 21–22 November"],
  ["2026-10-30T23:30:00Z", "Europe/Vienna", "Saturday 31 October 2026, 00:30 Europe/Vienna; this weekend: 31 October – 1 November"],
  [
    "2027-01-01T02:00:00Z",
    "America/Argentina/Buenos_Aires",
    "Thursday 31 December 2026, 23:00 America/Argentina/Buenos_Aires; this weekend: 2–3 January",
  ],
  ["2026-03-04T12:00:00Z", "Etc/GMT+3", "Wednesday 4 March 2026, 09:00 Etc/GMT+3; this weekend: 7–8 March"],
])("%s in %s is told as calendar and clock of the place show it", (instant, timeZone, told) => {
  expect(timeLine(new Date(instant), timeZone)).toBe(told);
});
