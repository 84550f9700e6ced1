import { useEffect, useState } from "preact/hooks";
import { Submit, sending } from "../web/controls.js";
import { serverWords } from "../web/problems.js";
import { Field } from "./parts.js";
import { signIn } from "./session.js";

export function SignIn() {
  const [refused, setRefused] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  useEffect(() => {
    document.title = "Sign in · Maitred Studio";
  }, []);
  const submit = async (form: HTMLFormElement) => {
    const field = form.elements.namedItem("token") as HTMLInputElement;
    setAsking(true);
    setRefused(null);
    try {
      await signIn(field.value);
    } catch (error) {
      setRefused(serverWords(error));
      field.select();
    } finally {
      setAsking(false);
    }
  };
  return (
    <main class="alone">
      <form class="card sign-in" onSubmit={sending(submit)}>
        <h1>Maitred Studio</h1>
        <p class="note">For those who run this server. It shows what guests say, and every look is in the audit trail.</p>
        <Field
          label="Operator's token"
          type="password"
          name="token"
          required
          maxLength={1024}
          autoComplete="current-password"
          aria-invalid={refused !== null}
          aria-describedby="sign-in-hint"
        />
        <p id="sign-in-hint" class="note">
          The value of <code>OPERATOR_TOKEN</code>. This browser is then signed in for eight hours, and doesn't keep the token.
        </p>
        {refused !== null && (
          <p class="problem" role="alert" dir="auto">
            {refused}
          </p>
        )}
        <Submit label={asking ? "One moment …" : "Sign in"} aria-disabled={asking} />
      </form>
    </main>
  );
}
