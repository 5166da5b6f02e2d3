import { createHash } from 'node:crypto';
import { UsageError } from '../../../shared/input/errors.ts';
import { printable } from '../../../shared/input/printable.ts';
import { count, empty, facts, figure, link, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { editRefusalOf } from '../../../ledger/people/edit-refusal.ts';
import { reasonText } from '../../../presentation/words/causes.ts';
import { actionForm, apiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import { campaignPath } from '../core/links.ts';
import { operations } from '../../../operations/list.ts';

/** What the API says of a list that was sent. */
interface Update extends Record<'rows' | 'accepted' | 'corrected' | 'unchanged' | 'failed' | 'mayStillBeCalled', number> {
  failures: { code: string; count: number; examples: { row: number; line: number | null; id: string | null }[] }[];
}

/** A corrected list for a campaign that goes on. The first press counts what would change; the second one, with the same file, does it. */
export const updateList: ConsoleAction = {
  path: '/campaigns/:campaign/update',
  role: operations.updateList.role,
  files: ['list'],
  form: async (request, given) => {
    const { campaign, campaignId } = await openCampaign(request);
    const back = campaignPath(campaignId);
    const refusal = editRefusalOf(campaign, request.now);
    return {
      title: given.answer === null ? 'Update the list' : 'Update the list like this?',
      ...inCampaign(campaign),
      body:
        refusal === null
          ? html`<section class="panel">
              <p>
                Rows are matched by the id column. New ones are added behind the last row, changed ones are corrected, and what the file no
                longer has stays as it is. Rows with a call that is planned or open, or with an outcome that stays, are left alone.
              </p>
              ${given.answer === null ? null : counts(given.answer as unknown as Update)} ${form(given, back)}
            </section>`
          : empty(given.refused ?? refusal, link(back, 'Back')),
    };
  },
  call: async ({ params, fields, files }) => {
    const { list } = files;
    const form = new FormData();
    if (list !== undefined) {
      form.append('list', list, 'list');
      const hash = await hashOf(list);
      if (isChange(fields) && fields.get('seen') !== hash)
        throw new UsageError('Nothing was changed: this is not the file of which you were shown what it does. Have it counted first.');
      fields.set('seen', hash);
    }
    const query = {
      dry_run: String(!isChange(fields)),
      add: String(fields.get('add') === 'yes'),
      restore: String(fields.get('restore') === 'yes'),
    };
    return { ...apiCall('updateList', params, query), body: form };
  },
  done: ({ params, fields }, { body }) => {
    if (!isChange(fields)) return null;
    const { accepted, corrected, failed } = body as unknown as Update;
    const notice = typeof body['notice'] === 'string' ? ` ${body['notice']}` : '';
    const said = `${count(accepted, 'row')} added, ${corrected.toLocaleString('en')} corrected, ${failed.toLocaleString('en')} left as they were.`;
    return { to: campaignPath(params['campaign'] ?? ''), said: `${said}${notice}` };
  },
};

function isChange(fields: URLSearchParams): boolean {
  return fields.get('step') === 'change';
}

async function hashOf(file: Blob): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of file.stream()) hash.update(part);
  return hash.digest('hex');
}

function form(given: Given, back: string): Html {
  const { answer, fields } = given;
  const counted = answer !== null;
  const option = (name: 'add' | 'restore', text: string): HtmlValue => {
    const chosen = fields?.get(name) === 'yes';
    // What was counted is done, and nothing else.
    if (counted) return chosen ? html`<input type="hidden" name="${name}" value="yes" />` : null;
    return html`<label><input type="checkbox" name="${name}" value="yes" ${chosen ? html`checked` : null} /> ${text}</label>`;
  };
  return actionForm(given, {
    button: counted ? 'Update the list' : 'Say what this does',
    back,
    files: true,
    body: html`<label class="field"
        >${counted ? 'The same file again' : 'The list, CSV or a workbook'}
        <input name="list" type="file" accept=".csv,.txt,.xlsx,text/csv" required
      /></label>
      ${option('restore', 'restore withdrawn rows that the file has')}
      ${option('add', 'take the file even if it looks like the list of another campaign')}
      <input type="hidden" name="step" value="${counted ? 'change' : 'count'}" />
      ${counted ? html`<input type="hidden" name="seen" value="${fields?.get('seen') ?? ''}" />` : null}`,
  });
}

function counts({ rows, accepted, corrected, unchanged, failed, mayStillBeCalled, failures }: Update): HtmlValue {
  return [
    facts([
      ['Rows of the file', figure(rows)],
      ['New, added after the last row', figure(accepted)],
      ['Corrected, and back in line where they were not', figure(corrected)],
      ['Unchanged', figure(unchanged)],
      ['Left as they are, see below', figure(failed)],
      ['Left, and may still be called at the old number', figure(mayStillBeCalled)],
    ]),
    failures.length === 0
      ? null
      : table(
          'Rows that are left as they are',
          failures.map(({ code, count: times, examples }) => ({
            key: `failure-${code}`,
            cells: {
              Why: reasonText(code),
              Rows: figure(times),
              'Such as': examples.map(({ row, line, id }) => placeOf({ row, line, id })).join('; '),
            },
          })),
        ),
  ];
}

function placeOf({ row, line, id }: Update['failures'][number]['examples'][number]): string {
  const where = line === null ? `row ${row}` : `line ${line}`;
  return id === null ? where : `${where}, ${printable(id)}`;
}
