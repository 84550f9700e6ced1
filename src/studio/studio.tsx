import { type ComponentChildren, render } from "preact";
import { Button } from "../web/controls.js";
import { ConversationsScreen } from "./conversations.js";
import { GuestScreen } from "./guest.js";
import { GuestsScreen } from "./guests.js";
import { HealthScreen } from "./health.js";
import { Failed, Heading, Link, Loading } from "./parts.js";
import { PlotsScreen } from "./plots.js";
import { QueuesScreen, WaitingScreen } from "./queues.js";
import { addressOf, type Route, route } from "./route.js";
import { about, begin, signedIn, signOut, unreachable } from "./session.js";
import { Name } from "./shown.js";
import { SignIn } from "./sign-in.js";
import { nextTheme, theme } from "./theme.js";

type Screen = (at: Route) => ComponentChildren;

const SCREENS: Readonly<Record<string, readonly [label: string, screen: Screen]>> = {
  conversations: ["Conversations", (at) => <ConversationsScreen at={at} />],
  guests: ["Guests", ({ path: [tenant, user] }) => (tenant && user ? <GuestScreen tenant={tenant} user={user} /> : <GuestsScreen />)],
  waiting: ["Waiting for a word", () => <WaitingScreen />],
  queues: ["Queues", () => <QueuesScreen />],
  plots: ["Plots", () => <PlotsScreen />],
  health: ["Health", () => <HealthScreen />],
};
/** A turn is shown beside the conversations. */
const nameOf = ({ screen }: Route) => (screen === "turns" ? "conversations" : screen);

function Studio() {
  if (unreachable.value !== null)
    return (
      <main class="alone">
        <Failed of={unreachable.value} again={() => void begin()} />
      </main>
    );
  if (signedIn.value === null) return <Loading />;
  if (!signedIn.value) return <SignIn />;
  return (
    <div class="studio">
      <Button label="Skip to the content" class="skip" onClick={toContent} />
      <Side />
      <main id="content">{Object.hasOwn(SCREENS, nameOf(route.value)) ? SCREENS[nameOf(route.value)]?.[1](route.value) : <Nowhere />}</main>
    </div>
  );
}

/** No link: the address names a screen. */
function toContent(): void {
  document.querySelector<HTMLElement>("main h1")?.focus();
}

function Side() {
  return (
    <header class="side">
      <p class="brand row">
        <span class="mark" aria-hidden="true">
          M
        </span>
        <span>
          Maitred <span class="brand-more">Studio</span>
        </span>
      </p>
      <nav aria-label="Studio">
        <ul>
          {Object.entries(SCREENS).map(([name, [label]]) => (
            <li key={name}>
              <Link to={addressOf(name)} current={name === nameOf(route.value)}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-foot">
        <p class="note">{aboutTexts()} Nothing is changed here but by a retry, and every look is in the audit trail.</p>
        <p class="note">
          Version <Name of={about.value?.version ?? null} />, model <Name of={about.value?.model ?? null} />
        </p>
        <p class="row">
          <Button label={`Colours: ${theme.value}`} onClick={nextTheme} />
          <Button label="Sign out" onClick={() => void signOut()} />
        </p>
      </div>
    </header>
  );
}

function aboutTexts(): string {
  const content = about.value?.content ?? null;
  if (content === null) return "Whether texts are shown is unknown.";
  return content ? "Texts are shown, as STUDIO_CONTENT is on." : "Texts are hidden, as STUDIO_CONTENT is off.";
}

const Nowhere = () => (
  <>
    <Heading title="Nothing here">There is no such screen</Heading>
    <p>
      <Link to={addressOf("conversations")}>To the conversations</Link>
    </p>
  </>
);

const root = document.getElementById("studio");
if (root !== null) {
  root.replaceChildren();
  render(<Studio />, root);
}
void begin();
