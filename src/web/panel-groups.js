/** In which part of the panel a memory stands. */

/** Who a memory is about, where that is somebody else. */
export function companionOf({ subject }) {
  return subject?.startsWith("companion:") ? subject.slice("companion:".length) : null;
}

const PARTS = [
  ["hard", "Must always hold"],
  ["companions", "The people with you"],
  ["trip", "This trip"],
  ["soft", "What you like"],
  ["done", "What you have done"],
  ["story", "Our story so far"],
];

function partOf(memory) {
  if (memory.type === "narrative" || memory.type === "summary") return "story";
  if (memory.type === "episodic") return "done";
  if (companionOf(memory) !== null) return "companions";
  if (memory.strength === "hard") return "hard";
  return memory.scope === "trip" ? "trip" : "soft";
}

/** `[heading, memories]` of each part that has any, in the order in which they are shown. */
export function groupsOf(memories) {
  const groups = new Map(PARTS.map(([part]) => [part, []]));
  for (const memory of memories) groups.get(partOf(memory)).push(memory);
  groups.get("companions").sort((a, b) => companionOf(a).localeCompare(companionOf(b)));
  return PARTS.map(([part, heading]) => [heading, groups.get(part)]).filter(([, shown]) => shown.length > 0);
}
