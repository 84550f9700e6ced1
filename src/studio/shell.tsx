import { Button } from "../web/controls.js";
import { ConversationsScreen } from "./conversations.js";
import { GuestScreen } from "./guest.js";
import { GuestsScreen } from "./guests.js";
import { HealthScreen } from "./health.js";
import { Failed, Heading, Link, Loading } from "./parts.js";
import { PlotsScreen } from "./plots.js";
import { QueuesScreen } from "./queues.js";
import { addressOf, type Route, route } from "./route.js";
import { about, begin, signedIn, signOut, unreachable } from "./session.js";
import { Name } from "./shown.js";
import { SignIn } from "./sign-in.js";
import { nextTheme, theme } from "./theme.js";
import { WaitingScreen } from "./waiting.js";

const SCREENS = [
  { name: "conversations", label: "Conversations", also: ["turns"] },
  { name: "guests", label: "Guests", also: [] },
  { name: "waiting", label: "Waiting for a word", also: [] },
  { name: "queues", label: "Queues", also: [] },
  { name: "plots", label: "Plots", also: [] },
  { name: "health", label: "Health", also: [] },
] as const;

export function Studio() {
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
      <main id="content">
        <Screen at={route.value} />
      </main>
    </div>
  );
}

/** No link: the address names a screen. */
function toContent(): void {
  document.querySelector<HTMLElement>("main h1")?.focus();
}

function Side() {
  const { screen } = route.value;
  return (
    <header class="side">
      <p class="brand">
        <span class="mark" aria-hidden="true">
          M
        </span>
        Maitred <span class="brand-more">Studio</span>
      </p>
      <nav aria-label="Studio">
        <ul>
          {SCREENS.map(({ name, label, also }) => (
            <li key={name}>
              <Link to={addressOf(name)} current={name === screen || also.some((other) => other === screen)}>
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

function Screen({ at }: { readonly at: Route }) {
  const [tenant, user] = at.path;
  switch (at.screen) {
    case "conversations":
    case "turns":
      return <ConversationsScreen at={at} />;
    case "guests":
      return tenant !== undefined && user !== undefined ? <GuestScreen tenant={tenant} user={user} /> : <GuestsScreen />;
    case "waiting":
      return <WaitingScreen />;
    case "queues":
      return <QueuesScreen />;
    case "plots":
      return <PlotsScreen />;
    case "health":
      return <HealthScreen />;
    default:
      return (
        <>
          <Heading title="Nothing here">There is no such screen</Heading>
          <p>
            <Link to={addressOf("conversations")}>To the conversations</Link>
          </p>
        </>
      );
  }
}
