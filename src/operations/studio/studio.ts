import { daysFrom } from "../../domain/lifecycle.js";
import type { Plots } from "../../ports/counters.js";
import type { HealthHistory } from "../../ports/health-history.js";
import type { Readiness } from "../../ports/resources.js";
import type { Studio } from "../../ports/studio.js";
import type { HealthView, StudioInfo } from "../../ports/studio-views.js";
import { Conversations, type ConversationsParts } from "./conversations.js";
import { Guests, type GuestsParts } from "./guests.js";
import { AuditedLooks, type LooksParts, showsText } from "./looks.js";
import { plotSteps } from "./plots.js";
import { Queues, type QueuesParts } from "./queues.js";
import { Replays, type ReplaysParts } from "./replays.js";
import { type TurnDetailParts, TurnDetails } from "./turn-detail.js";

export type { BlockSources } from "./turn-detail.js";

/** Tenants that had turns within it are named. */
const DAYS_OF_TENANTS = 7;

type Parts = ConversationsParts & TurnDetailParts & ReplaysParts & GuestsParts & QueuesParts;

export type StudioParts = LooksParts &
  Omit<Parts, "show" | "looks" | "content"> & {
    readonly plots: Plots;
    readonly readiness: () => Promise<Readiness>;
    readonly healthHistory: HealthHistory;
    readonly info: Omit<StudioInfo, "tenants">;
  };

/** All that an operator is shown of what happened. */
export function studioOver(parts: StudioParts): Studio {
  const { plots, readiness, healthHistory, info, clock } = parts;
  const looks = new AuditedLooks(parts);
  const { content } = info;
  const all = { ...parts, show: showsText(content), content, looks };
  const conversations = new Conversations(all);
  const turns = new TurnDetails(all);
  const replays = new Replays(all);
  const guests = new Guests(all);
  const queues = new Queues(all);
  return {
    about: async () => ({ ...info, tenants: await tenantsOf(plots, clock.now()) }),
    conversations: (query) => conversations.page(query),
    conversation: (name, page) => conversations.one(name, page),
    turn: (name, turn) => turns.one(name, turn),
    replay: (...turn) => replays.one(...turn),
    guest: (name) => guests.one(name),
    timeline: (name, query) => guests.timeline(name, query),
    waiting: (query) => guests.waiting(query),
    queues: async () => {
      await looks.atAll("queues");
      return queues.all();
    },
    writeBacks: async (query) => {
      await looks.atAll("write_back");
      return queues.writeBacks(query);
    },
    retry: (name) => queues.retry(name),
    plots: async (query) => {
      await looks.atAll("plots");
      return plotSteps(plots, query, clock);
    },
    health: async (): Promise<HealthView> => {
      await looks.atAll("health");
      const now = await readiness();
      await healthHistory.noted(now, clock.now());
      return { now, history: await healthHistory.all() };
    },
  };
}

async function tenantsOf(plots: Plots, now: Date): Promise<readonly string[] | null> {
  const days = await plots.between(daysFrom(now, -DAYS_OF_TENANTS).slice(0, "2027-03-28".length), "~", "day");
  const tenants = [...new Set(days.flatMap(({ tenant }) => tenant ?? []))].toSorted();
  return tenants.length === 0 ? null : tenants;
}
