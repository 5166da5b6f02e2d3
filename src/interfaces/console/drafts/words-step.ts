import { theColumn, recipientFields } from '../../../rules/columns.ts';
import { panel } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import type { View } from '../core/view.ts';
import { mostVariables, variablesOf } from './content.ts';
import { problemOf, refusedFields, textArea, type FormState, maskedRows } from './form-fields.ts';
import type { OpenDraft } from './settings.ts';
import { stepView, fieldOf, labelOf, stepPath } from './steps.ts';
import { compileTemplates, TemplateError } from '../../../rules/personalisation.ts';
import { readDraft, withStandIns } from './reading.ts';

const spareRows = 2;

/** What is said: the opening line, and what the agent is told about the row. */
export async function wordsStep(
  open: OpenDraft,
  { problems, now, status = 200 }: { problems: FormState['problems']; now: number; status?: number },
): Promise<View> {
  const form: FormState = { fields: open.fields, problems };
  const rows = Math.min(mostVariables, variablesOf(open.fields).length + spareRows);
  const examplePath = stepPath(open.draft.draftId, 'words').replace(/words$/, 'example');
  const body = html`
    ${refusedFields(form, labelOfWords)}
    <form class="act wide" method="post" action="${stepPath(open.draft.draftId, 'words')}" data-example="${examplePath}">
      ${textArea(form, {
        ...fieldOf('first_message'),
        rows: 4,
      })}
      <div>
        <p class="soft">Columns that you can use here and below:</p>
        <p class="names">${columnNames(open)}</p>
        <p class="soft">
          A row that leaves a used column empty is not called. <code>{{ first_name | default: "there" }}</code> says what to take instead.
        </p>
      </div>
      <h3>Variables of the agent</h3>
      <p class="soft">
        What the agent's prompt is told about the row, if it asks for it: the name there, and the text here, such as
        <code>{{ first_name }}</code>.
      </p>
      <div class="pairs">${Array.from({ length: rows }, (_, at) => variableRow(form, at))}</div>
      <p class="actions">
        <button class="btn">Save and go on: calls</button>
        <button class="btn bare" formaction="${examplePath}">Show the example</button>
      </p>
    </form>
  `;
  return stepView(
    open,
    'words',
    [panel('What is said', body), panel('Example', html`<div id="example" aria-live="polite">${await renderExample(open, now)}</div>`)],
    status,
  );
}

function variableRow(form: FormState, at: number): Html {
  const [name, value] = [`variables.${at}.name`, `variables.${at}.value`];
  const problem = problemOf(form, `variables.${at}`);
  const described = problem === null ? null : html`aria-invalid="true" aria-describedby="variables.${at}-problem"`;
  return html`<div class="pair">
      <div class="entry">
        <label for="${name}">Variable ${at + 1}</label>
        <input id="${name}" name="${name}" value="${form.fields[name] ?? ''}" autocomplete="off" ${described} />
      </div>
      <div class="entry">
        <label for="${value}">Text of variable ${at + 1}</label>
        <input id="${value}" name="${value}" value="${form.fields[value] ?? ''}" autocomplete="off" ${described} />
      </div>
    </div>
    ${problem === null ? null : html`<p class="entry-problem" id="variables.${at}-problem">${problem}</p>`}`;
}

function columnNames({ sample: { columns } }: OpenDraft): Html[] {
  return columns
    .filter((column) => column.trim() !== '')
    .map((column) => {
      const name = column.trim().replaceAll(/\s+/g, '_');
      const isNameable = /^[A-Za-z_][\w-]*$/.test(name) && theColumn(name, columns) === column;
      return isNameable
        ? html`<code>{{ ${name} }}</code> `
        : html`<span class="soft">${printable(column)} (rename the column to use it)</span> `;
    });
}

function labelOfWords(field: string): string {
  const [, at] = /^variables\.(\d+)/.exec(field) ?? [];
  return at === undefined ? labelOf(field) : `Variable ${Number(at) + 1}`;
}

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
      return html`<li><span class="soft">Row ${at + 1}</span> ${rendered.ok ? spoken(rendered) : refused(rendered)}</li>`;
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
  return [html`<p class="quote">${line}</p>`, ...(own.length === 0 ? [] : [html`<p class="soft">${own}</p>`])];
}

interface Spoken {
  firstMessage: string | null;
  variables: Record<string, string> | null;
}

function refused({ missing, problem }: { missing: string[]; problem: string | null }): Html {
  const why = missing.length === 0 ? printable(problem ?? 'it cannot be filled in') : `${missing.map(printable).join(', ')} is empty here`;
  return html`<p class="entry-problem">Not called: ${why}.</p>`;
}
