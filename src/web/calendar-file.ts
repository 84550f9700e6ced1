import type { Fields } from "./api-types.js";

/** A booking as an event of a calendar (RFC 5545). */

const LINE_BYTES = 75;
const encoder = new TextEncoder();

const escaped = (text: string) =>
  text
    .replaceAll("\\", "\\\\")
    .replace(/[,;]/g, "\\$&")
    .replace(/\r\n?|\n/g, "\\n")
    .replace(/\p{Cc}/gu, "");
const utc = (date: Date) => date.toISOString().replace(/[-:]|\.\d+/g, "");

/** A line is at most 75 octets long, and goes on behind a blank. */
function folded(line: string): string {
  let bytes = 0;
  let text = "";
  for (const character of line) {
    const length = encoder.encode(character).length;
    if (bytes + length > LINE_BYTES) {
      text += "\r\n ";
      bytes = 1;
    }
    text += character;
    bytes += length;
  }
  return text;
}

/** What is asked of a booking of any product's. */
export type CalendarBooking = Fields & Readonly<{ title: string; where?: string; seats?: string }>;

/** Null where it does not say when it begins. `now`: when it is made. */
export function calendarFile(booking: CalendarBooking, now = new Date()): string | null {
  const { starts_at: startsAt, reference, booking_id: id, title, where, seats } = booking;
  const start = new Date(typeof startsAt === "string" ? startsAt : Number.NaN);
  if (Number.isNaN(start.getTime())) return null;
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Maitred//Bookings//EN",
    "BEGIN:VEVENT",
    `UID:${escaped(String(id ?? reference ?? startsAt))}@maitred`,
    `DTSTAMP:${utc(now)}`,
    `DTSTART:${utc(start)}`,
    `SUMMARY:${escaped(title)}`,
    ...(where ? [`LOCATION:${escaped(where)}`] : []),
    `DESCRIPTION:${escaped([seats, reference && `Reference ${reference}`].filter(Boolean).join("\n"))}`,
    "STATUS:CONFIRMED",
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  return `${lines.map(folded).join("\r\n")}\r\n`;
}
