import { recipientFields, theColumn } from '../../../rules/columns.ts';
import { draftPath } from '../core/drafts.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { readPlaceholders, readServiceOffers, type ServiceOffers } from '../../../operations/control/check/service.ts';
import { compileTemplates, TemplateError, type Personalisation } from '../../../rules/personalisation.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import type { ViewRequest } from '../core/view.ts';
import { placesOf, variablesOf } from './content.ts';
import { marks, maskedRows, partForm, problemOf, problemsOf, selectField, textArea, textField, type FormState } from './form-fields.ts';
import { fieldOf } from './parts.ts';
import { readDraft, type EvaluatedDraft } from './reading.ts';
import type { DraftFields, OpenDraft } from './draft-types.ts';

const spareRows = 2;
/** Further columns have no insert button. */
const mostChips = 40;

export async function wordsPart({ context, cache, now }: Pick<ViewRequest, 'context' | 'cache' | 'now'>, evaluated: EvaluatedDraft, form: FormState): Promise<HtmlValue> {
  const { draft, sample } = evaluated.usable;
  const { fields } = form;
  const open = { draft, sample, fields };
  const offers = await cache.read('service offers', () => readServiceOffers(context.config));
  const isOffered = offers.asked && offers.agents.length > 0 && offers.numbers.length > 0;
  const agentId = fields['agent_id']?.trim() ?? '';
  const placeholders = agentId === '' || !isOffered ? {} : await placeholdersOf({ context, cache }, agentId);
  const why = offers.asked ? 'The service lists no agent or no number yet.' : `The service was not asked: ${offers.reason.replace(/\.$/, '')}.`;
  return [
    partForm(open, 'words', form, [
      isOffered ? chosenFrom(form, offers) : writtenByHand(form, why),
      textArea(form, 'first_message', 3),
      html`<div class="field">
        <p class="hint">Put a column where its value belongs. A row that leaves it empty is not called.</p>
        ${columnChips(open)}
      </div>`,
      variables(form, placeholders),
      html`<details id="opt-out" ${form.fields['opt_out.collected'] ? html`open` : null}>
        <summary>When somebody asks not to be called again</summary>
        ${textField(form, 'opt_out.collected')}
      </details>`,
    ]),
    html`<div class="field">
      <span class="label" id="hear">The first people hear</span>
      <div id="example" data-example="${draftPath(draft.draftId, '/example')}" aria-live="polite">${await renderExample(evaluated, now)}</div>
    </div>`,
  ];
} // prettier-ignore

function chosenFrom(form: FormState, { agents, numbers }: ServiceOffers): Html {
  const known = new Set(numbers.map(({ id }) => id));
  const written = (form.fields['from_phone_number_id'] ?? '').split(/[\n,]+/).map((id) => id.trim());
  const gone = written.filter((id) => id !== '' && !known.has(id));
  const options = [['', 'Choose the agent'], ...agents.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const)] as const;
  return html`<div class="fields">${selectField(form, 'agent_id', options, { hint: null, unknown: 'not listed by the service' })}</div>
    ${marks(form, 'from_phone_number_id', {
      type: 'checkbox',
      options: [
        ...numbers.map(({ id, name }) => [id, name, id] as const),
        ...gone.map((id) => [id, printable(id), 'not listed by the service'] as const),
      ],
      hint: numbers.length < 2 ? null : fieldOf('from_phone_number_id').hint,
    })}`;
}

function writtenByHand(form: FormState, reason: string): Html {
  const hints = {
    agent_id: `The agent's id at the service. ${reason}`,
    from_phone_number_id: 'The id of the imported number; several with commas between them.',
  };
  return html`<div class="fields">${Object.entries(hints).map(([name, hint]) => textField(form, name, { hint }))}</div>`;
}

/** Columns for the texts, each inserted by a click; as text without a script. */
function columnChips({ sample: { columns } }: OpenDraft): Html {
  const named = columns.flatMap((column) => {
    const name = column.trim().replaceAll(/\s+/g, '_');
    return /^[A-Za-z_][\w-]*$/.test(name) && theColumn(name, columns) === column ? [name] : [];
  });
  const odd = columns.filter((column) => column.trim() !== '').length - named.length;
  return html`<div class="chips scripted" role="group" aria-label="Insert a column">
      ${named.slice(0, mostChips).map(
        (name) => html`<button class="chip mono" type="button" data-insert="{{ ${name} }}">${icon('plus')} ${name}</button>`,
      )}
    </div>
    <noscript
      ><p class="hint">${named.map((name) => html`<code>{{ ${name} }}</code> `)}</p></noscript
    >
    ${odd === 0 ? null : html`<p class="hint">Rename ${count(odd)} other ${odd === 1 ? 'column' : 'columns'} to use ${odd === 1 ? 'it' : 'them'}.</p>`}`; // prettier-ignore
}

/** Variables of the agent's prompt, and others. `placeholders`: their values if left empty. */
function variables(form: FormState, placeholders: Readonly<Record<string, string>>): Html {
  const { fields } = form;
  const places = placesOf(fields);
  const used = places.filter(({ name, template }) => name !== '' || template.trim() !== '');
  const free = places.slice((used.at(-1)?.at ?? -1) + 1);
  const missingNames = Object.keys(placeholders).filter((name) => !used.some((own) => own.name === name));
  const rows = [
    ...used,
    ...free.slice(0, missingNames.length + spareRows).map(({ at }, index) => ({ at, name: missingNames[index] ?? '' })),
  ];
  const written = variablesOf(fields).length;
  const countText =
    used.length + missingNames.length === 0 ? null : `${count(written)} of ${plural(used.length + missingNames.length, 'variable')}`;
  const isOpen = used.some(({ at }) => problemOf(form, `variables.${at}`) !== null);
  return html`<details id="variables" ${isOpen || missingNames.length > 0 ? html`open` : null}>
    <summary>What the agent knows besides <span class="soft">${countText}</span></summary>
    <p class="hint">
      The name of a variable in the agent's prompt, and the text for it, such as <code>{{ first_name }}</code> or
      <code>{{ first_name | default: "there" }}</code>.
    </p>
    ${rows.map(({ at, name }) => variableRow(form, { at, name, placeholder: placeholders[name] }))}
  </details>`; // prettier-ignore
}

function variableRow(form: FormState, { at, name, placeholder }: { at: number; name: string; placeholder: string | undefined }): Html {
  const [key, value] = [`variables.${at}.name`, `variables.${at}.value`];
  const isBad = problemOf(form, `variables.${at}`) !== null;
  const described = isBad ? html`aria-invalid="true" aria-describedby="variables.${at}-problem"` : null;
  return html`<div class="pair" id="pair-${at}">
      <div class="field">
        <label class="hidden" for="${key}">Variable ${at + 1}</label>
        <input
          id="${key}"
          name="${key}"
          class="mono"
          value="${name}"
          placeholder="name"
          autocomplete="off"
          ${described}
          ${form.first === key ? html`autofocus` : null}
        />
      </div>
      <div class="field">
        <label class="hidden" for="${value}">Text of variable ${at + 1}</label>
        <input
          id="${value}"
          name="${value}"
          value="${form.fields[value] ?? ''}"
          placeholder="${placeholder === undefined ? 'text' : `else: ${printable(placeholder)}`}"
          autocomplete="off"
          ${described}
        />
      </div>
    </div>
    ${problemsOf(form, `variables.${at}`)}`;
}

/** Default values of an agent's variables. */
export function placeholdersOf(
  { context, cache }: Pick<ViewRequest, 'context' | 'cache'>,
  agentId: string,
): Promise<Readonly<Record<string, string>>> {
  return cache.read(`placeholders ${agentId}`, () => readPlaceholders(context.config, agentId));
}

/** Adds a text for each agent variable that is named like a column, unless it has one. */
export function withPlaceholders({ fields, sample }: OpenDraft, names: readonly string[]): DraftFields {
  const places = placesOf(fields);
  const free = places.filter((place) => place.name === '' && place.template.trim() === '');
  const isNew = (name: string) => !places.some((place) => place.name === name) && theColumn(name, sample.columns) !== null;
  const known = names.filter(isNew).slice(0, free.length);
  const added = known.flatMap((name, index) => [
    [`variables.${free[index]?.at}.name`, name],
    [`variables.${free[index]?.at}.value`, `{{ ${name} }}`],
  ]);
  return { ...fields, ...Object.fromEntries(added) };
}

const shownRows = 3;

/** The words for the first rows, rendered as for a call; numbers are masked. */
export async function renderExample({ usable: open, problems }: EvaluatedDraft, now: number): Promise<Html> {
  const problem = problems.find(({ field: at }) => /^(?:first_message|variables)/.test(at));
  const reading = await readDraft(open, now);
  if (problem !== undefined || !reading.ok)
    return html`<p class="error">No example yet. ${printable(problem?.message ?? 'The list cannot be read with what is written.')}</p>`;
  try {
    const words = compileTemplates(reading.rules);
    const rows = maskedRows(open).slice(0, shownRows);
    return html`<ol class="said" aria-labelledby="hear">
      ${rows.map((cells, at) => html`<li><span class="soft small">Row ${at + 1}</span> ${renderSpokenWords(words, open.sample.columns, cells)}</li>`)}
    </ol>`;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return html`<p class="error">No example yet. ${printable(error.message)}.</p>`;
  }
}

/** Around values from cells; no list contains them. */
const [from, to] = ['\uE000', '\uE001'];

function renderSpokenWords(words: Personalisation, columns: readonly string[], cells: readonly string[]): HtmlValue {
  const rendered = words.render(recipientFields(columns, cells));
  if (!rendered.ok) {
    const { missing, problem } = rendered;
    const why =
      missing.length === 0 ? printable(problem ?? 'it cannot be filled in') : `${missing.map(printable).join(', ')} is empty here`;
    return html`<span class="error">Not called: ${why}.</span>`;
  }
  const { firstMessage, variables: renderedVariables } = rendered;
  const own = Object.entries(renderedVariables ?? {}).map(([name, value]) => html`<code>${name}</code> = ${printable(value)} `);
  const marked = words.render(recipientFields(columns, cells.map((cell) => (cell.trim() === '' ? cell : `${from}${cell}${to}`)))); // prettier-ignore
  return html`<span>${firstMessage === null ? "The agent's own opening line" : spoken(firstMessage, marked.ok ? marked.firstMessage : null)}</span>
    ${own.length === 0 ? null : html`<span class="soft small">${own}</span>`}`; // prettier-ignore
}

/** Highlights values from cells, if the template leaves them unchanged. */
function spoken(line: string, marked: string | null): HtmlValue {
  if (marked === null || marked.replaceAll(from, '').replaceAll(to, '') !== line) return printableLines(line);
  const parts = marked.split(/[\uE000\uE001]/);
  return parts.map((part, at) => (at % 2 === 0 ? printableLines(part) : html`<mark>${printableLines(part)}</mark>`));
}
