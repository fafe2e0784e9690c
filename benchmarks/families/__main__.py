from benchmarks.families import main

main()
