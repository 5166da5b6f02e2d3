import { sandboxFloors } from './sandbox-floors.ts';

/** Rooms from bottom to top, types included: outside itself a room imports only from lines above its own. */
export const layers: readonly (readonly string[])[] = [
  ['src/rules'],
  ['src/shared'],
  ['src/service', 'src/list', 'src/ledger'],
  ['src/campaign', 'src/verify'],
  ['activities'],
  ['workflows'],
  ['src/temporal', 'src/presentation'],
  ['src/operations', 'src/sandbox'],
  ['src/interfaces/client', 'src/interfaces/api'],
  ['src/interfaces/console'],
  ['src/interfaces/cli'],
];

/** What views and actions of the page may import: the read model, its words and charts. Changes go through the API. */
const consoleParts = `operations operations/runs campaign/file/** list presentation/charts operations/control/** service/port
  interfaces/console/core rules/** presentation/html shared/input ledger/** presentation/report presentation/words`;

/**
 * What each folder may import of the layers below it, types included; `/**`: also all below. `npm run layout` fails on an unlisted folder
 * or import. docs/architecture.md describes the folders.
 */
export const floors = readFloors({
  'presentation/html': 'rules presentation/html/browser',
  rules: '',
  'rules/hours': 'rules',
  'rules/callbacks': 'rules rules/hours',
  'rules/attempts': 'rules rules/hours',
  'rules/pacing': 'rules',
  'rules/webhooks': 'rules',
  'rules/correlation': 'rules',
  'rules/forecast': 'rules rules/correlation rules/hours',

  'shared/input': 'rules rules/hours',
  'shared/network': '',
  'shared/geography': 'rules/** shared/input',
  'service/port': 'rules rules/correlation',
  'service/http': 'rules service/port shared/network',
  'service/convai': 'rules service/http service/port shared/network',
  'service/published': 'service/http service/port',
  service: 'rules service/convai service/http service/port service/published',
  'campaign/file/**': 'campaign/file/** list rules/** shared/input shared/geography',
  'shared/hooks': 'rules/** shared/input shared/network',
  shared: 'rules shared/input shared/hooks shared/network',

  ledger: 'rules/** shared/input ledger/postgres',
  'ledger/postgres': '',
  'ledger/threads': 'ledger',
  'ledger/rows': 'rules/** shared/input ledger',
  'ledger/doubt': 'rules/** ledger ledger/rows',
  'ledger/limits': 'rules/** ledger ledger/doubt ledger/rows',
  'ledger/plan': 'rules/** ledger ledger/doubt ledger/limits ledger/rows',
  'ledger/dial': 'rules/** ledger ledger/doubt ledger/limits ledger/plan ledger/rows',
  'ledger/collect': 'rules/** ledger ledger/dial ledger/doubt ledger/limits ledger/rows',
  'ledger/campaign': 'rules/** ledger ledger/dial ledger/limits ledger/rows',
  'ledger/people': 'rules/** ledger ledger/campaign ledger/collect ledger/doubt ledger/rows',
  'ledger/console': 'rules/** ledger',
  'ledger/webhooks': 'rules/** ledger ledger/read',
  'ledger/read': 'rules/** ledger ledger/campaign ledger/doubt ledger/limits ledger/plan ledger/rows',

  'list/format': 'shared/input',
  'list/format/xlsx': 'rules shared/input list/format',
  list: 'shared/network rules/** shared/input list/format/** shared/geography',
  'campaign/preflight': 'campaign/file/** service/port rules/** shared/input ledger/** list/** shared/geography',
  'presentation/results': 'rules/** shared/input ledger/** list/**',
  'verify/**': 'ledger/** verify/**',

  activities: `shared shared/network campaign/file/** service/port rules/** shared/hooks shared/input ledger/** list/** campaign/preflight`,
  workflows: 'activities rules/**',
  temporal: 'activities shared shared/network service service/port rules/** ledger/** workflows',

  'presentation/words': 'campaign/file/** service/port rules/** shared/hooks shared/input ledger/** list campaign/preflight workflows',
  'presentation/charts': 'rules presentation/html shared/input ledger/read',
  'presentation/report': `presentation/charts rules presentation/html shared/input ledger ledger/read ledger/rows verify
    presentation/words`,
  'presentation/evidence': 'presentation/html presentation/words rules/** shared/input ledger ledger/read verify',
  'operations/control/check': `shared campaign/file/** operations/control service/port rules/** shared/hooks shared/input ledger/**
    list/** campaign/preflight temporal presentation/words`,
  'operations/control/schedules': `campaign/file/** campaign/preflight operations/control rules/** shared/input ledger/** list/** temporal`,
  'operations/control/aside': `campaign/file/** campaign/preflight ledger/** presentation/evidence presentation/report
    presentation/results rules/**`,
  'operations/control': `operations/control/aside presentation/evidence shared campaign/file/** service service/port rules/** shared/hooks
    shared/input ledger/** list/** campaign/preflight temporal verify presentation/words workflows`,

  // Nothing of the product: the client and the help of the command line load it.
  operations: 'campaign/file/** rules/** presentation/results',
  'operations/runs': `operations/control/** campaign/file campaign/preflight service/port rules/** shared/input ledger/** operations
    presentation/words`,

  'interfaces/api/core': 'shared campaign/file/** operations/** service/port rules/** shared/input ledger/** presentation/words',
  'interfaces/api': 'interfaces/api/** service/port rules operations operations/runs',
  'interfaces/api/routes': `shared interfaces/api/core operations/** campaign/preflight service/port rules/**
    shared/input ledger/** presentation/report presentation/results verify presentation/words`,

  'interfaces/client': 'operations',

  'interfaces/console/core': `operations operations/runs shared interfaces/api/core operations/control/** service/port rules presentation/html
    shared/input ledger/**`,
  'interfaces/console/actions': consoleParts,
  'interfaces/console/campaign': `${consoleParts} interfaces/console/actions campaign/preflight`,
  'interfaces/console/drafts': `${consoleParts} interfaces/api/core campaign/preflight`,
  'interfaces/console/people': `${consoleParts} interfaces/api/core interfaces/console/campaign`,
  'interfaces/console/views': `${consoleParts} interfaces/console/actions interfaces/console/campaign interfaces/console/people`,
  'interfaces/console':
    'operations operations/runs shared/input interfaces/api/core presentation/charts interfaces/console/** presentation/html ledger/**',

  'interfaces/cli/terminal': 'shared/input ledger operations operations/control',
  'interfaces/cli/access': `shared interfaces/cli/terminal operations/control service/port rules/** shared/input ledger/** sandbox/**
    temporal presentation/words`,
  ...commandGroups({
    // The commands are the operations of the contract.
    'interfaces/cli/service': 'service/convai',
    'interfaces/cli/suppress': '',
    'interfaces/cli/schedule': '',
    'interfaces/cli/steer': '',
    'interfaces/cli/rows': '',
    'interfaces/cli/watch': 'verify',
    'interfaces/cli/results': 'presentation/evidence presentation/report',
    'interfaces/cli/check': '',
    'interfaces/cli/start': '',
    'interfaces/cli/rehearse': 'interfaces/cli/results interfaces/cli/start interfaces/cli/watch sandbox/** verify',
    'interfaces/cli/local': `shared/hooks shared/network interfaces/cli/results interfaces/cli/serve interfaces/cli/start
      interfaces/cli/watch sandbox/** service`,
    'interfaces/cli/serve': 'interfaces/api interfaces/console shared/hooks',
    'interfaces/cli/sandbox': 'sandbox/**',
  }),
  'interfaces/cli': 'rules shared shared/network interfaces/cli/** operations/control shared/input operations presentation/words',
});

/** Commands of one heading of `carillon --help` may import everything below them, and from other headings what is named. */
function commandGroups(groups: Record<string, string>): Record<string, string> {
  const below = `operations/** shared campaign/file/** interfaces/cli/access interfaces/cli/terminal service/port
    rules/** shared/input ledger/** list/** campaign/preflight presentation/results temporal presentation/words`;
  return Object.fromEntries(Object.entries(groups).map(([folder, more]) => [folder, `${below} ${more}`]));
}

function readFloors(written: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  const placed = (name: string) => (/^(activities|workflows)$/.test(name) ? name : `src/${name}`);
  const read = Object.entries(written).map(([folder, names]) => [placed(folder), names.split(/\s+/).filter(Boolean).map(placed)]);
  return { ...(Object.fromEntries(read) as Record<string, string[]>), ...sandboxFloors };
}
