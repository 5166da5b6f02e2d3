import { adjustable, meaningOf } from '../../../campaign/file/settings/pacing.ts';
import { readCampaignLimits, type CampaignLimits } from '../../../operations/control/adjust.ts';
import { adjustableLimits, type PacingLimits } from '../../../rules/campaign-rules.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { count, facts, figure, link, table } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { readLastActs } from '../../../ledger/read/last-acts.ts';
import { readLineLimits, type LineLimits } from '../../../ledger/limits/line-limits.ts';
import { pacingLines } from '../../../presentation/words/campaign.ts';
import { actionForm, apiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import { campaignPath } from '../core/links.ts';
import { refusedText, standingFacts } from '../core/press.ts';
import { operations } from '../../../operations/list.ts';

/** The limits that hold now and those of the file, with what a change of them means for the calls on the line. */
export const changeLimits: ConsoleAction = {
  path: '/campaigns/:campaign/limits',
  role: operations.adjustCampaign.role,
  form: async (request, given) => {
    const { context, clock, now } = request;
    const { campaign, campaignId, db } = await openCampaign(request);
    const back = campaignPath(campaignId);
    const acts = await readLastActs(db, campaignId);
    const isOver = hasEnded(campaign);
    const reason = given.refused ?? (isOver ? 'There is no pace to change now.' : null);
    const lines = isOver ? null : await readLineLimits(db, campaign, { now });
    return {
      ...(isOver && given.refused === null ? { status: 409 } : {}),
      title: `Limits of ${campaignId}`,
      ...inCampaign(campaign),
      body: html`<section class="panel">
        ${reason === null ? null : refusedText(reason, acts)}
        ${facts([...standingFacts(campaign, acts), ...(lines === null ? [] : pacingLines(lines, clock, context.now()))])}
        ${lines === null ? null : html`<p>${meaning(lines)}</p>`}
        ${
          lines === null
            ? html`<p>${link(back, `Back to ${campaignId}`)}</p>`
            : actionForm(
                { ...given, refused: null },
                {
                  button: 'Change the limits',
                  back,
                  body: fields(await readCampaignLimits(context, campaignId), given),
                },
              )
        }
      </section>`,
    };
  },
  call: ({ params, fields: sent }) => ({
    ...apiCall('adjustCampaign', params),
    body: sent.get('reset') === 'yes' ? { reset: true } : changedOnly(sent),
  }),
  done: ({ params }, { body }) => {
    const { limits: after, notice } = body as { limits: PacingLimits; notice: string | null };
    const said = adjustableLimits.map((name) => `${adjustable[name].label.toLowerCase()}: ${shown(after[name])}`).join(', ');
    return {
      to: campaignPath(params['campaign'] ?? ''),
      said: `From the next batch on: ${said}.${notice === null ? '' : ` ${notice}`}`,
    };
  },
};

/** What a lower limit does to the calls that there are. */
function meaning({ open, allowed }: LineLimits): string {
  const below = open === 0 ? '' : ` A limit below ${open.toLocaleString('en')} ends none of them: no call begins until fewer are on the line.`; // prettier-ignore
  return `A change holds from the next batch on. ${count(open, 'call')} may be on the line now, and ${allowed.toLocaleString('en')} are allowed.${below}`;
}

function fields({ now, file }: CampaignLimits, given: Given): Html {
  const rows = adjustableLimits.map((name) => {
    const { label, isLiftable } = adjustable[name];
    const means = `${meaningOf(adjustable[name])}${isLiftable ? '; empty: no limit' : ''}`;
    const before = now[name] === null ? '' : String(now[name]);
    const cells = {
      Limit: html`${label} <span class="soft">${means}</span>`,
      Now: figure(shown(now[name])),
      'In the file': figure(shown(file[name])),
      Wanted: html`<input type="hidden" name="was-${name}" value="${given.fields?.get(`was-${name}`) ?? before}" />
        <input
          name="${name}"
          size="8"
          inputmode="numeric"
          autocomplete="off"
          aria-label="${label}"
          value="${given.fields?.get(name) ?? before}"
        />`,
    };
    return { key: `limit-${name}`, cells };
  });
  return html`${table('Limits', rows)}
    <label
      ><input type="checkbox" name="reset" value="yes" ${given.fields?.get('reset') === 'yes' ? html`checked` : null} /> Restore all limits
      of the campaign file, whatever stands above</label
    >`;
}

function shown(limit: number | null): string {
  return limit === null ? 'no limit' : limit.toLocaleString('en');
}

/** Only what was changed in this form: whoever changes another limit meanwhile keeps their change. The API refuses what is no number. */
function changedOnly(sent: URLSearchParams): Record<string, unknown> {
  const wish: Record<string, unknown> = {};
  for (const name of adjustableLimits) {
    const value = sent.get(name)?.trim();
    if (value === undefined || value === sent.get(`was-${name}`)) continue;
    if (value === '' && adjustable[name].isLiftable) wish[name] = null;
    else wish[name] = /^\d{1,9}$/.test(value) ? Number(value) : value;
  }
  return wish;
}
