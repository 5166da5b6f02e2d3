import { sandboxFloors } from './sandbox-floors.ts';

/**
 * What each folder may import, types included; `/**` stands for the folder and all below it. A folder that is not named, or an import
 * that is not allowed, fails `npm run layout`. docs/architecture.md says what each folder is for.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  'src/domain': [],
  'src/domain/hours': ['src/domain'],
  'src/domain/attempts': ['src/domain', 'src/domain/hours'],
  'src/domain/pacing': ['src/domain'],
  'src/domain/correlation': ['src/domain'],
  'src/domain/forecast': ['src/domain', 'src/domain/correlation', 'src/domain/hours'],

  'src/input': ['src/domain'],
  'src/place': ['src/domain/**', 'src/input'],
  'src/convai': ['src/domain'],
  'src/campaign-file': ['src/convai', 'src/domain/**', 'src/input', 'src/place'],
  'src/hooks': ['src/campaign-file', 'src/domain/**', 'src/input'],
  src: ['src/hooks'],

  'src/ledger': ['src/domain/**'],
  'src/ledger/rows': ['src/domain/**', 'src/ledger'],
  'src/ledger/doubt': ['src/domain/**', 'src/ledger', 'src/ledger/rows'],
  'src/ledger/limits': ['src/domain/**', 'src/ledger', 'src/ledger/doubt', 'src/ledger/rows'],
  'src/ledger/plan': ['src/domain/**', 'src/ledger', 'src/ledger/doubt', 'src/ledger/limits', 'src/ledger/rows'],
  'src/ledger/dial': [
    'src/domain/**',
    'src/ledger',
    'src/ledger/doubt',
    'src/ledger/limits',
    'src/ledger/plan',
    'src/ledger/rows',
  ],
  'src/ledger/collect': [
    'src/domain/**',
    'src/ledger',
    'src/ledger/dial',
    'src/ledger/doubt',
    'src/ledger/limits',
    'src/ledger/rows',
  ],
  'src/ledger/campaign': ['src/domain/**', 'src/ledger', 'src/ledger/dial', 'src/ledger/limits', 'src/ledger/rows'],
  'src/ledger/people': [
    'src/domain/**',
    'src/ledger',
    'src/ledger/campaign',
    'src/ledger/collect',
    'src/ledger/doubt',
    'src/ledger/rows',
  ],
  'src/ledger/read': [
    'src/domain/**',
    'src/ledger',
    'src/ledger/campaign',
    'src/ledger/doubt',
    'src/ledger/limits',
    'src/ledger/plan',
    'src/ledger/rows',
  ],

  'src/list/format': ['src/input'],
  'src/list/format/xlsx': ['src/input', 'src/list/format'],
  'src/list': ['src/campaign-file', 'src/convai', 'src/domain/**', 'src/input', 'src/list/format/**', 'src/place'],
  'src/preflight': ['src/campaign-file', 'src/convai', 'src/domain/**', 'src/input', 'src/list/**', 'src/place'],
  'src/results': ['src/domain/**', 'src/input', 'src/ledger/**', 'src/list/**'],
  'src/import': ['src/campaign-file', 'src/domain/**', 'src/input', 'src/ledger/**', 'src/list/**', 'src/preflight'],
  'src/verify': ['src/ledger/**'],

  activities: [
    'src',
    'src/campaign-file',
    'src/convai',
    'src/domain/**',
    'src/hooks',
    'src/import',
    'src/input',
    'src/ledger/**',
    'src/list/**',
    'src/preflight',
  ],
  workflows: ['activities', 'src/domain/**'],
  'src/temporal': ['activities', 'src', 'src/convai', 'src/domain/**', 'src/ledger/**', 'workflows'],

  ...sandboxFloors,

  'src/cli/terminal': ['src/input'],
  'src/cli/words': [
    'src/campaign-file',
    'src/cli/terminal',
    'src/convai',
    'src/domain/**',
    'src/hooks',
    'src/input',
    'src/ledger/**',
    'src/preflight',
  ],
  'src/cli/access': [
    'src',
    'src/cli/terminal',
    'src/cli/words',
    'src/convai',
    'src/domain/**',
    'src/input',
    'src/ledger/**',
    'src/sandbox/**',
    'src/temporal',
    'workflows',
  ],
  ...commandGroups({
    'src/cli/service': [],
    'src/cli/suppress': [],
    'src/cli/schedule': [],
    'src/cli/steer': [],
    'src/cli/rows': [],
    'src/cli/watch': ['src/verify'],
    'src/cli/results': [],
    'src/cli/check': [],
    'src/cli/start': [],
    'src/cli/rehearse': ['src/cli/results', 'src/cli/start', 'src/cli/watch', 'src/sandbox/**', 'src/verify'],
    'src/cli/local': ['src/cli/results', 'src/cli/start', 'src/cli/watch', 'src/sandbox/**'],
    'src/cli/sandbox': ['src/sandbox/**'],
  }),
  'src/cli': ['src', 'src/cli/**', 'src/input'],
};

/** Commands of one heading of `carillon --help` know everything below them, and of other headings what is named. */
function commandGroups(groups: Record<string, readonly string[]>): Record<string, readonly string[]> {
  const below = [
    'src',
    'src/campaign-file',
    'src/cli/access',
    'src/cli/terminal',
    'src/cli/words',
    'src/convai',
    'src/domain/**',
    'src/import',
    'src/input',
    'src/ledger/**',
    'src/list/**',
    'src/preflight',
    'src/results',
    'src/temporal',
  ];
  return Object.fromEntries(Object.entries(groups).map(([folder, more]) => [folder, [...below, ...more]]));
}
