// Programs in Node see the environment, as any other program does; those that never ask for it have no ENV.
Module['preRun'] = (Module['preRun'] || []).concat(() => typeof ENV === 'undefined' || Object.assign(ENV, process.env));
