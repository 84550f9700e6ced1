import { expect, test } from "vitest";
import { calendarFile } from "../../src/web/calendar-file.js";

const NOW = new Date("2026-11-28T13:00:00.500Z");
const BOOKING = { starts_at: "2026-12-04T19:30:00.000Z", reference: "MTR-1", booking_id: "b-1", title: "Cellar Night", where: "Nebelhorn" };

test("a booking is an event of a calendar, at its moment whatever the device's zone", () => {
  expect(calendarFile({ ...BOOKING, seats: "2 seats" }, NOW)?.split("\r\n")).toEqual([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Maitred//Bookings//EN",
    "BEGIN:VEVENT",
    "UID:b-1@maitred",
    "DTSTAMP:20261128T130000Z",
    "DTSTART:20261204T193000Z",
    "SUMMARY:Cellar Night",
    "LOCATION:Nebelhorn",
    "DESCRIPTION:2 seats\\nReference MTR-1",
    "STATUS:CONFIRMED",
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ]);
});

test("what a title says ends no line and begins no property; no line is over 75 octets", () => {
  const title = `A; B, C\\ D\r\nATTENDEE:mailto:x@example.org\u0007${"ü🎷".repeat(60)}`;
  const lines = calendarFile({ ...BOOKING, title }, NOW)?.split("\r\n") ?? [];
  expect(lines.filter((line) => line.startsWith("ATTENDEE"))).toEqual([]);
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
  const whole = lines.join("\r\n").replaceAll("\r\n ", "");
  expect(whole).toContain(`SUMMARY:A\\; B\\, C\\\\ D\\nATTENDEE:mailto:x@example.org${"ü🎷".repeat(60)}\r\n`);
});

test.each([undefined, "", "soon", 7])("one that does not say when it begins (%j) is none", (starts_at) => {
  expect(calendarFile({ ...BOOKING, starts_at })).toBeNull();
});
