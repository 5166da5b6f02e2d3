import { count, facts, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { listDrafts } from '../../../ledger/console/drafts.ts';
import { listTokens } from '../../../ledger/console/tokens.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { choice, textField, type FormState } from './form-fields.ts';
import { mostListBytes } from './receive-list.ts';
import { isTheirs, type OpenDraft } from './settings.ts';
import { sampleTable } from './sample-table.ts';
import { stepPath, stepView } from './steps.ts';

const noForm: FormState = { fields: {}, problems: [] };

/** Where a new campaign begins, and the drafts that are open. */
export async function newCampaignView(request: ViewRequest, form: FormState = noForm, status = 200): Promise<View> {
  return {
    title: 'New campaign',
    section: 'new',
    status,
    crumbs: [['/', 'Campaigns']],
    body: [panel('Begin with the list', uploadForm('/new', form, 'Upload and go on')), panel('Drafts', await draftsTable(request))],
  };
}

/** The list of a draft: what it begins with, and the way to send another one. */
export function listStep(open: OpenDraft, form: FormState = noForm, status = 200): View {
  const { draft, sample } = open;
  const path = stepPath(draft.draftId, 'list');
  return stepView(
    open,
    'list',
    [
      panel('The list', [
        facts([
          ['File', printable(draft.list.name)],
          ['Size', sizeText(draft.list.bytes)],
          ['Columns', count(sample.columns.length, 'column')],
          ['How it was read', sample.notes.map((note) => `${printable(note)}.`).join(' ')],
        ]),
        sampleTable(open),
        html`<p class="actions">
          <a class="button" href="${stepPath(draft.draftId, 'columns')}">Go on: columns</a>
        </p>`,
      ]),
      panel('Send another list instead', uploadForm(path, { ...form, fields: { ...open.fields, ...form.fields } }, 'Replace the list')),
    ],
    status,
  ); // prettier-ignore
}

function uploadForm(path: string, form: FormState, button: string): Html {
  const problem = form.problems.find(({ field }) => field === 'list')?.message ?? null;
  const most = mostListBytes / 1_000_000;
  return html`<form class="act upload" method="post" action="${path}" enctype="multipart/form-data">
    <div class="entry drop" data-most="${mostListBytes}">
      <label for="list">Your list, as CSV or as an Excel workbook (.xlsx)</label>
      <input
        id="list"
        name="list"
        type="file"
        required
        accept=".csv,.tsv,.txt,.xlsx,text/csv,text/plain,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        ${problem === null ? html`aria-describedby="list-hint"` : html`aria-invalid="true" aria-describedby="list-problem list-hint"`}
      />
      <p class="hint" id="list-hint">
        Choose a file or drop it here. Its first line names the columns; one of them holds the telephone numbers. At most ${most} MB; a
        larger list goes through <code>carillon start</code> or the API.
      </p>
      <p class="entry-problem" id="list-problem" role="alert">${problem}</p>
    </div>
    <details ${form.fields['list.delimiter'] || form.fields['list.sheet'] ? html`open` : null}>
      <summary>If it is not read as it should be</summary>
      <div class="entry-row">
        ${choice(form, {
          name: 'list.delimiter',
          label: 'What separates the columns (CSV)',
          options: [
            ['', 'Found by itself'],
            [',', 'Comma'],
            [';', 'Semicolon'],
            ['\t', 'Tab'],
            ['|', 'Vertical bar'],
          ],
        })}
        ${textField(form, {
          name: 'list.sheet',
          label: 'Sheet (Excel)',
          hint: 'The name on its tab; the first sheet if this is empty.',
        })}
      </div>
    </details>
    <p class="actions"><button>${button}</button></p>
  </form>`;
}

async function draftsTable(request: ViewRequest): Promise<HtmlValue> {
  const { context, holder } = request;
  const drafts = (await listDrafts(context.store, context.now())).filter((draft) => isTheirs(draft, holder));
  const names = new Map((await listTokens(context.store)).map(({ tokenId, name }) => [tokenId, name]));
  return table(
    'Drafts, the one touched last first',
    drafts.map(({ draftId, list, tokenId, touchedReal, settings }) => {
      const { fields } = JSON.parse(settings) as Pick<OpenDraft, 'fields'>;
      const path = `/new/${encodeURIComponent(draftId)}`;
      return {
        key: `draft-${draftId}`,
        cells: {
          Draft: link(path, printable(fields['id'] || list.name)),
          List: `${printable(list.name)}, ${sizeText(list.bytes)}`,
          'Made by': names.get(tokenId) ?? '–',
          Touched: instant(touchedReal, 'full'),
          '': link(`${path}/discard`, 'Discard'),
        },
      };
    }),
    html`<p class="muted">There is none. A campaign that you have begun stands here until it is started.</p>`,
  );
}

/** Such as `0.4 MB`. */
export function sizeText(bytes: number): string {
  return bytes < 100_000 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
