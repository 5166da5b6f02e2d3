/** Text and names of columns, in turn: at even places text, at odd ones names. */
export type PlainTemplate = readonly string[];

const plainOutput = /\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}/;

/**
 * The parts of a template that holds nothing but text and `{{ name }}`, as most do; null for any other. Such a template needs no engine,
 * which takes some ten times as long for it: an import renders each row once, only to see that nothing is missing. `variables` are the
 * names that the engine itself reads as columns, so that a word of its language, such as `empty`, is not taken for one.
 */
export function readPlainTemplate(template: string, variables: readonly string[]): PlainTemplate | null {
  const parts = template.split(plainOutput);
  const fits = parts.every((part, index) => (index % 2 === 0 ? !part.includes('{') : variables.includes(part)));
  return fits ? parts : null;
}

/** The filled-in text; `addMissing` is told each name without a value. */
export function fillPlainTemplate(
  parts: PlainTemplate,
  scope: Readonly<Record<string, string | undefined>>,
  addMissing: (name: string) => void,
): string {
  let text = '';
  parts.forEach((part, index) => {
    const value = index % 2 === 0 ? part : scope[part];
    if (value === undefined) addMissing(part);
    else text += value;
  });
  return text;
}
