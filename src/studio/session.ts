import { signal } from "@preact/signals";
import { Problem } from "../web/problems.js";
import { type About, client } from "./client.js";

/** Whether somebody is signed in; null while it is not known. */
export const signedIn = signal<boolean | null>(null);
/** What the server says of itself; null before it does. */
export const about = signal<About | null>(null);
/** Why it could not be asked. */
export const unreachable = signal<Problem | null>(null);

const never = new AbortController().signal;

export async function begin(): Promise<void> {
  unreachable.value = null;
  try {
    about.value = await client.about(never);
    signedIn.value = true;
  } catch (error) {
    const refused = refusalOf(error);
    if (refused.status === 401) signedIn.value = false;
    else unreachable.value = refused;
  }
}

export async function signIn(token: string): Promise<void> {
  await client.signIn(token);
  await begin();
}

export async function signOut(): Promise<void> {
  try {
    await client.signOut();
    signedIn.value = false;
  } catch (error) {
    unreachable.value = refusalOf(error);
  }
}

/** Whatever failed, in words. A session that has ended asks for the token again. */
export function refusalOf(error: unknown): Problem {
  if (!(error instanceof Problem)) return new Problem({ detail: "Studio failed to show this.", hint: String(error) });
  if (error.status === 401) signedIn.value = false;
  return error;
}
