# cmake -DBUILD=... -DCONSUMER=... -DWORK=... -DCOMPILER=... -P install_test.cmake
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
must(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER})
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${WORK}/build/consumer)
must(${WORK}/build/program_consumer)
must(${WORK}/prefix/bin/zellige --version)
