import { compileTemplates, TemplateError } from '../../../rules/personalisation.ts';
import { recipientFields } from '../../../rules/columns.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import { readDraft, withStandIns } from './reading.ts';
import { maskedRows } from './sample-table.ts';
import type { OpenDraft } from './settings.ts';

const shownRows = 3;

/** What is said to the first rows, filled in as a call would be; numbers in it are masked. */
export async function renderExample(open: OpenDraft, now: number): Promise<Html> {
  const reading = await readDraft({ ...open, fields: withStandIns(open, ['first_message', 'variables']) }, now);
  if (!reading.ok) {
    const [first] = reading.problems;
    return html`<p class="entry-problem">No example yet. ${first?.message}</p>`;
  }
  try {
    const words = compileTemplates(reading.rules);
    const rows = maskedRows(open).slice(0, shownRows);
    const items = rows.map((cells, at) => {
      const rendered = words.render(recipientFields(open.sample.columns, cells));
      return html`<li><span class="muted">Row ${at + 1}</span> ${rendered.ok ? spoken(rendered) : refused(rendered)}</li>`;
    });
    return html`<ol class="spoken">
      ${items}
    </ol>`;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return html`<p class="entry-problem">No example yet. ${printable(error.message)}.</p>`;
  }
}

function spoken({ firstMessage, variables }: Spoken): Html[] {
  const line = firstMessage === null ? "The agent's own opening line" : printableLines(firstMessage);
  const own = Object.entries(variables ?? {}).map(([name, value]) => html`<code>${name}</code> = ${printable(value)} `);
  // Blanks in it are those of the line.
  return [html`<p class="quote">${line}</p>`, ...(own.length === 0 ? [] : [html`<p class="muted">${own}</p>`])];
}

interface Spoken {
  firstMessage: string | null;
  variables: Record<string, string> | null;
}

function refused({ missing, problem }: { missing: string[]; problem: string | null }): Html {
  const why = missing.length === 0 ? printable(problem ?? 'it cannot be filled in') : `${missing.map(printable).join(', ')} is empty here`;
  return html`<p class="entry-problem">Not called: ${why}.</p>`;
}
