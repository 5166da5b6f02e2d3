import { testWeaves } from './weaves-suite.ts';

testWeaves('sqlite', { every: 4, seeds: 20 });
