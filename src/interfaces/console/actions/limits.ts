import { adjustableTermNames, adjustableTerms, termTexts } from '../../../campaign/file/settings/adjustable.ts';
import { adjustable, meaningOf } from '../../../campaign/file/settings/pacing.ts';
import { readAccountUse, readCampaignLimits, type CampaignLimits, readHouseView } from '../../../operations/control/adjust.ts';
import { adjustableLimits, type PacingLimits } from '../../../rules/campaign-rules.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { count, facts, figure, link, note, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { readLastActs } from '../../../ledger/read/last-acts.ts';
import { readLineLimits, type LineLimits } from '../../../ledger/limits/line-limits.ts';
import type { AdjustEffect } from '../../../ledger/read/adjust-effect.ts';
import { effectLines } from '../../../presentation/words/adjust-effect.ts';
import { pacingLines } from '../../../presentation/words/campaign.ts';
import { actionForm, apiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { lineField, refusedField } from '../core/fields.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import { campaignPath } from '../core/links.ts';
import { refusedText, standingFacts } from '../core/press.ts';
import { operations } from '../../../operations/list.ts';

/** Limits, hours and retries that hold now and those of the file, with what a change means for calls on the line and people who wait. */
export const changeLimits: ConsoleAction = {
  path: '/campaigns/:campaign/limits',
  role: operations.adjustCampaign.role,
  form: async (request, given) => {
    const { context, now } = request;
    const { campaign, campaignId, db } = await openCampaign(request);
    const back = campaignPath(campaignId);
    const acts = await readLastActs(db, campaignId);
    const isOver = hasEnded(campaign);
    const reason = isOver ? (given.refused ?? 'There is nothing to change now.') : null;
    const effect = (given.answer?.['effect'] ?? null) as AdjustEffect | null;
    const lines = isOver ? null : await readLineLimits(db, campaign, { now });
    return {
      ...(isOver && given.refused === null ? { status: 409 } : {}),
      title: 'Change limits, hours and retries',
      ...inCampaign(campaign),
      body: html`<section class="panel">
        ${reason === null ? null : refusedText(reason, acts)}
        ${facts([...standingFacts(campaign, acts), ...(lines === null ? [] : pacingLines(lines, { atReal: (at) => at }, now))])}
        ${lines === null ? null : html`<p>${meaning(lines)}</p>`} ${effect === null ? null : effectNote(effect)}
        ${
          lines === null
            ? html`<p>${link(back, `Back to ${campaignId}`)}</p>`
            : actionForm(given, {
                button: 'Change',
                back,
                keep: 'Keep as it is',
                body: fields(await readCampaignLimits(context, campaignId), given),
                tells: [...adjustableLimits, ...adjustableTermNames],
              })
        }
      </section>`,
    };
  },
  call: ({ params, fields: sent }) => ({
    ...apiCall('adjustCampaign', params),
    body: {
      ...(sent.get('reset') === 'yes' ? { reset: true } : changedOnly(sent)),
      ...(sent.get('look') === 'yes' ? { dryRun: true } : {}),
    },
  }),
  done: ({ params }, { body }) => {
    const { limits: after, notice, effect } = body as { limits: PacingLimits; notice: string | null; effect: AdjustEffect | null };
    if (effect !== null) return null;
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

function effectNote(effect: AdjustEffect): Html {
  return note(effect.neverOpen > 0 ? 'bad' : 'quiet', {
    drawing: 'people',
    title: 'What it does to the people who wait',
    body: effectLines(effect).map((line) => html`<p>${line}</p>`),
  });
}

/** What a field has now, for whoever looks later what was changed in it, with the field. */
function wanted(name: string, label: string, before: string, given: Given): Html {
  const { marks, line } = refusedField(given, name);
  return html`<input type="hidden" name="was-${name}" value="${given.fields?.get(`was-${name}`) ?? before}" /><input
      name="${name}"
      autocomplete="off"
      aria-label="${label}"
      value="${given.fields?.get(name) ?? before}"
      ${marks}
    />${line}`;
}

function termRows({ now, file }: CampaignLimits, given: Given): HtmlValue {
  const [texts, before] = [termTexts(now), termTexts(file)];
  const rows = adjustableTermNames.map((name) => {
    const { label, help } = adjustableTerms[name];
    const cells = {
      Setting: html`${label} <span class="soft">${help}</span>`,
      Now: texts[name],
      'In the file': before[name],
      Wanted: wanted(name, label, texts[name], given),
    };
    return { key: `term-${name}`, cells };
  });
  return table('Hours and retries', rows);
}

function fields(limits: CampaignLimits, given: Given): Html {
  const { now, file } = limits;
  const rows = adjustableLimits.map((name) => {
    const { label, isLiftable } = adjustable[name];
    const means = `${meaningOf(adjustable[name])}${isLiftable ? '; empty: no limit' : ''}`;
    const before = now[name] === null ? '' : String(now[name]);
    const cells = {
      Limit: html`${label} <span class="soft">${means}</span>`,
      Now: figure(shown(now[name])),
      'In the file': figure(shown(file[name])),
      Wanted: wanted(name, label, before, given),
    };
    return { key: `limit-${name}`, cells };
  });
  return html`${table('Limits', rows)} ${termRows(limits, given)}
    <label
      ><input type="checkbox" name="reset" value="yes" ${given.fields?.get('reset') === 'yes' ? html`checked` : null} /> Restore what the
      campaign file says, whatever stands above</label
    >
    <p class="actions"><button class="btn" name="look" value="yes">See what it does</button></p>`;
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
  for (const name of adjustableTermNames) {
    const value = sent.get(name)?.trim();
    if (value !== undefined && value !== sent.get(`was-${name}`)) wish[name] = value;
  }
  return wish;
}

export const changeAccountLimits: ConsoleAction = {
  path: '/limits/change',
  role: operations.adjustAccountLimits.role,
  form: async ({ context }, given) => {
    const use = await readAccountUse(context);
    const { maxConcurrentCalls: most, keepFree } = use;
    const written = given.fields ?? new URLSearchParams({ maxConcurrentCalls: String(most ?? ''), keepFree: String(keepFree / 10) });
    return {
      title: 'Change what all campaigns share',
      section: 'limits',
      crumbs: [['/limits', 'Limits']],
      body: html`<section class="panel pad-all stack narrow">
        <p>
          ${count(use.open, 'call')} of ${count(use.campaigns.length, 'campaign')} ${use.open === 1 ? 'is' : 'are'} on the line. A change
          holds from the next batch on; a lower limit ends no call.
        </p>
        ${actionForm(given, {
          button: 'Change',
          back: '/limits',
          keep: 'Keep as it is',
          body: [
            lineField(
              written,
              { name: 'maxConcurrentCalls', label: 'Calls at once, all campaigns together; empty: no limit', most: 7 },
              given,
            ),
            lineField(written, { name: 'keepFree', label: 'Kept free for calls of others, in percent', most: 4 }, given),
          ],
          tells: ['maxConcurrentCalls', 'keepFree'],
        })}
      </section>`,
    };
  },
  call: ({ fields }) => {
    const [lines, free] = ['maxConcurrentCalls', 'keepFree'].map((name) => fields.get(name)?.trim() ?? '') as [string, string];
    // With no limit there is nothing to keep free a part of. What is no number is left to the API to refuse.
    const keepFree = lines === '' ? {} : { keepFree: /^[\d.]+$/.test(free) ? Number(free) / 100 : free };
    return { ...apiCall('adjustAccountLimits'), body: { maxConcurrentCalls: lines === '' ? null : whole(lines), ...keepFree } };
  },
  done: (_sent, { body }) => {
    const notice = body['notice'] as string | null;
    return { to: '/limits', said: `The limits of all campaigns hold from the next batch on.${notice === null ? '' : ` ${notice}`}` };
  },
};

export const changeHouseRules: ConsoleAction = {
  path: '/limits/house',
  role: operations.setHouseRules.role,
  form: async ({ context }, given) => {
    const { now } = await readHouseView(context);
    const text = given.fields?.get('rules') ?? now?.text ?? houseExample;
    const trial = given.refused === null ? (given.answer as Trial | null) : null;
    return {
      title: 'Change the house rules',
      section: 'limits',
      crumbs: [['/limits', 'Limits']],
      body: html`<section class="panel pad-all stack narrow">
        <p>They hold for every campaign besides its own file, for calls that are planned, too. The stricter of the two binds.</p>
        ${trial == null ? null : trialNote(trial)}
        ${actionForm(given, {
          button: 'Set the house rules',
          back: '/limits',
          keep: 'Keep them as they are',
          body: html`<label class="field"
              >House rules, as YAML; <code>{}</code> lifts them
              <textarea name="rules" rows="12" required spellcheck="false" autocomplete="off">${text}</textarea>
            </label>
            <p class="actions"><button class="btn" name="look" value="yes">See what it does</button></p>`,
        })}
      </section>`,
    };
  },
  call: ({ fields }) => ({
    ...apiCall('setHouseRules'),
    body: { rules: fields.get('rules') ?? '', ...(fields.get('look') === 'yes' ? { dryRun: true } : {}) },
  }),
  done: ({ fields }, { body }) => {
    if (fields.get('look') === 'yes') return null;
    const { changed, version, lacking, notice } = body as { changed: boolean; version: number; lacking: object[]; notice: string | null };
    const pauses =
      lacking.length === 0
        ? ''
        : ` ${count(lacking.length, 'campaign')} without what is required ${lacking.length === 1 ? 'pauses' : 'pause'}.`;
    const said = changed ? `Version ${version} of the house rules holds from now on.${pauses}` : 'The house rules say so already.';
    return { to: '/limits', said: `${said}${notice === null ? '' : ` ${notice}`}` };
  },
};

const houseExample = '# caps: [{ calls: 3, within: 7d }]\n# holidays: [US]\n# caller_limits: { per_day: 80 }\n# consent: required\n{}\n';

interface Trial {
  changed: boolean;
  lacking: { campaignId: string; lacks: string[] }[];
}

function trialNote({ changed, lacking }: Trial): Html {
  const lines = lacking.map(({ campaignId, lacks }) => html`<p>${campaignId} would pause: it has no ${lacks.join(' and no ')}.</p>`);
  return note(lacking.length > 0 ? 'bad' : 'quiet', {
    title: changed ? 'Nothing is changed yet' : 'They say so already',
    body: lines.length === 0 ? html`<p>No campaign under way would pause for it.</p>` : lines,
  });
}

function whole(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}
