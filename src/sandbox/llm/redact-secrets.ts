const shortestSecret = 8;

/** Takes the values of `headers` out of a text in which an answer may echo them, with or without a scheme such as Bearer. */
export function redactSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  let clean = text;
  for (const value of Object.values(headers)) {
    for (const secret of [value, ...value.split(/\s+/).slice(1)]) {
      if (secret.length >= shortestSecret) clean = clean.replaceAll(secret, '[redacted]');
    }
  }
  return clean;
}
