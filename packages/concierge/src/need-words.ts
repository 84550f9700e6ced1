import type { Seats } from "./catalogue.js";
import { type AccessName, type DietName, isAccess, isDiet, type NeedName, type WithoutName } from "./needs.js";

/** How a need is told of an event. */
export interface NeedWords {
  /** Where the catalogue doesn't say whether it is met. */
  readonly named: string;
  readonly met: string;
  readonly broken: string;
  /** Why a booking stops, in a sentence. */
  readonly because: (seats: Seats) => string;
}

const OF_ACCESS: Readonly<Record<AccessName, NeedWords>> = {
  step_free: {
    named: "step free",
    met: "step-free",
    broken: "not step-free",
    because: ({ event, section }) => `${section.name} at ${event.venue} is not step-free. ${event.access}`,
  },
  hearing_loop: {
    named: "hearing loop",
    met: "hearing loop",
    broken: "no hearing loop",
    because: ({ event }) => `${event.venue} has no hearing loop.`,
  },
  assistance_dog: {
    named: "assistance dog",
    met: "assistance dog",
    broken: "no assistance dogs",
    because: ({ event }) => `${event.venue} does not admit assistance dogs.`,
  },
};

export function wordsOf(name: NeedName): NeedWords {
  if (isAccess(name)) return OF_ACCESS[name];
  return isDiet(name) ? ofDiet(name) : ofWithout(name);
}

function ofDiet(diet: DietName): NeedWords {
  return {
    named: diet,
    met: `${diet} menu`,
    broken: `no ${diet} menu`,
    because: ({ event }) => `"${event.title}" offers no ${diet} menu.`,
  };
}

function ofWithout(name: WithoutName): NeedWords {
  const food = name.slice("no_".length);
  return {
    named: food,
    met: `without ${food}`,
    broken: `not without ${food}`,
    because: ({ event }) => `"${event.title}" can't be served without ${food}.`,
  };
}
