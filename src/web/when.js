/** Days and times as people read them. Days are `YYYY-MM-DD` where the thing is. */

const ISO_DAY = /^\d{4}-\d\d-\d\d$/;

const part = (date, options) => date.toLocaleDateString([], { ...options, timeZone: "UTC" });

/** Weekday, day and month of a date tile; null for what is no day. */
export function tileOf(day) {
  if (typeof day !== "string" || !ISO_DAY.test(day)) return null;
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return null;
  return { weekday: part(date, { weekday: "short" }), day: String(date.getUTCDate()), month: part(date, { month: "short" }) };
}

/** Whether a day is over, as this device's clock has it. */
export function isOver(day) {
  return typeof day === "string" && ISO_DAY.test(day) && day < new Date().toLocaleDateString("sv");
}

/** "14:05", "yesterday", "3 May". */
export function when(iso) {
  const date = new Date(iso);
  const days = Math.floor((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86400000);
  if (days === 0) return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (days === 1) return "yesterday";
  return date.toLocaleDateString([], { day: "numeric", month: "short", year: days > 300 ? "numeric" : undefined });
}
