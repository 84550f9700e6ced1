import { signal } from "@preact/signals";
import type { Me, Waiting } from "./api-types.js";

/** What all parts of the page may read, each with one writer, and what they tell each other. */

/** Who speaks, and to which server; null before it is known. */
export const me = signal<Me | null>(null);
/** The open conversation's id; null for one that has not begun. */
export const session = signal<string | null>(null);
/** The open conversation is kept out of memory. */
export const incognito = signal(false);
/** The guest has paused memory: no turn is remembered until they say otherwise. */
export const paused = signal(false);
/** Ids of the conversations in which an answer is under way, open or not. */
export const running = signal<ReadonlySet<string>>(new Set());
/** How many memories are active; null where that is not known. */
export const known = signal<number | null>(null);
/** What waits for the guest's word, by memory id. */
export const waiting = signal<ReadonlyMap<string, Waiting>>(new Map());

/** Whether memory may be asked for anything at all. */
export const memoryIsOn = (): boolean => me.value?.server.long_term.enabled === true;
/** The name of the guest, as the page says it. */
export const guestName = (): string => me.value?.user.display_name ?? me.value?.user.id ?? "you";

export type TurnOver = Readonly<{ session: string | null; turn?: number | undefined }>;
/** `elsewhere`: it was not this tab that did it. */
type Elsewhere = Readonly<{ elsewhere?: boolean }>;

/** What happened, for whoever listens; the last five ask for what another part does. */
interface Events {
  /** Another conversation is open, or the open one has just `begun`. `live`: it was there all the time, with what was said in it. */
  session: { readonly begun: boolean; readonly live: boolean };
  /** A turn is over: answered, failed, or stopped. */
  turn: TurnOver & Elsewhere;
  /** Memories were added, changed, confirmed or forgotten: who shows them reads them again. */
  memories: Elsewhere;
  /** The list of conversations has changed. `listed`: this page shows it already. */
  sessions: Elsewhere & { readonly listed?: boolean };
  /** A request found no server. */
  unreachable: object;
  /** It is gone, or is back. */
  connection: { readonly up: boolean };
  open: { readonly id: string; readonly message?: string | null };
  new: { readonly incognito?: boolean };
  /** Stop the answer that is under way in a conversation. */
  stop: { readonly id: string };
  /** Put words into the message field. */
  write: { readonly text: string };
  /** Say something for the guest, whose button was pressed. */
  speak: { readonly text: string };
}

const bus = new EventTarget();

export function tell<K extends keyof Events>(kind: K, detail: Events[K]): void {
  bus.dispatchEvent(new CustomEvent(kind, { detail }));
}

export function on<K extends keyof Events>(kind: K, listener: (detail: Events[K]) => void): void {
  bus.addEventListener(kind, (event) => listener((event as CustomEvent<Events[K]>).detail));
}
